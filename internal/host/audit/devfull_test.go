//go:build linux

package audit

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/need"
	"github.com/kandev/assent/internal/testlog"
)

// The system's own full disk.
func TestDevFull(t *testing.T) {
	f, err := os.OpenFile("/dev/full", os.O_WRONLY|os.O_APPEND, 0)
	need.Of(t, "/dev/full", err)
	out := &testlog.Buffer{}
	l := newLog(f, Options{Logger: out.Logger(), Queue: 10}.withDefaults())
	for n := range 50 {
		l.Append(numberedRecord(n))
	}
	assert.ErrorContains(t, l.Close(t.Context()), "no space left on device")
	assert.Equal(t, Stats{Dropped: 50}, l.Stats())
	require.Equal(t, 1, out.Count("are being dropped"))
}
