//go:build unix

package proxy

import (
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A client that goes while its line waits for an agent that does not read is noticed,
// although nobody comes to the end of what it wrote.
func TestAClientThatGoesInMidLine(t *testing.T) {
	r := start(t, "stays", nil)
	require.Equal(t, saidLine("ready"), r.line())
	said := make(chan struct{})
	go func() {
		defer close(said)
		_, _ = r.in.WriteString(`{"jsonrpc":"2.0","method":"x","params":"` + strings.Repeat("x", 1<<20) + "\"}\n" + `{"jsonrpc":"2.0","method":"y"}` + "\n")
	}()
	<-said // the proxy has read the long line, and the short one is in the pipe
	require.NoError(t, r.in.Close())
	assert.Equal(t, 0, r.wait())
}

func TestHungUp(t *testing.T) {
	in, out, err := os.Pipe()
	require.NoError(t, err)
	_, err = out.WriteString("unread")
	require.NoError(t, err)
	assert.False(t, hungUp(in))
	require.NoError(t, out.Close())
	assert.True(t, hungUp(in), "although something is unread")
	require.NoError(t, in.Close())
	assert.False(t, hungUp(in), "nobody can say")
}

func TestHungUpSocket(t *testing.T) {
	l, err := net.Listen("unix", t.TempDir()+"/s")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	near, err := net.Dial("unix", l.Addr().String())
	require.NoError(t, err)
	far, err := l.Accept()
	require.NoError(t, err)
	f, err := far.(*net.UnixConn).File()
	require.NoError(t, err)
	require.NoError(t, far.Close())
	assert.False(t, hungUp(f))
	require.NoError(t, near.Close())
	assert.True(t, hungUp(f))
	require.NoError(t, f.Close())
}
