package console

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/shadow"
	"github.com/kandev/assent/stages"
)

// A net that is missing is noticed, and said in the exit code.
func TestShadowCanFail(t *testing.T) {
	pipelines, err := stages.NewDefaultFactory() // without the witness
	require.NoError(t, err)
	out, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer func() { _ = out.Close() }()
	store := pending.New(pending.Config{})
	defer store.Close()
	s := newScreen(out, newLedger())
	o := &Options{Flags: Flags{OnPending: "reject"}}
	s.surface = o.shadowPolicy(s, store)
	self, err := os.Executable()
	require.NoError(t, err)
	set, err := dialects.Index(dialects.All())
	require.NoError(t, err)
	agent := process.Command{Path: self, Env: append(os.Environ(), demoVariable+"=1")}
	host, err := shadow.NewHost(shadow.Options{Pipelines: pipelines, Dialects: set, Store: store, Watcher: s, Agent: agent})
	require.NoError(t, err)
	assert.EqualError(t, playAll(t.Context(), host, s), "a net did not hold: dropped, borrows")
	shown, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	assert.Contains(t, string(shown), "\nBROKEN    witness: request 1 was approved automatically (injected_mcp)\n")
	assert.Equal(t, 2, strings.Count(string(shown), "\nheld      tripwire: "))
}
