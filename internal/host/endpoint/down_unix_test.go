//go:build unix

package endpoint

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/upstream"
)

// reserved is a port of 127.0.0.1 that refuses connections until it listens, and that
// nobody else can take meanwhile.
func reserved(t *testing.T) (port int, listen func() net.Listener) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	file := os.NewFile(uintptr(fd), "reserved")
	t.Cleanup(func() { _ = file.Close() })
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	name, err := syscall.Getsockname(fd)
	require.NoError(t, err)
	return name.(*syscall.SockaddrInet4).Port, func() net.Listener {
		require.NoError(t, syscall.Listen(fd, syscall.SOMAXCONN))
		l, err := net.FileListener(file)
		require.NoError(t, err)
		return l
	}
}

func TestATargetThatIsDownAndComesUp(t *testing.T) {
	port, listen := reserved(t)
	b := front(t, upstream.Target{
		URL: fmt.Sprintf("http://127.0.0.1:%d/5ecret?k=5ecret", port), Headers: http.Header{"K": {"5ecret"}},
	})
	s := b.session(t)
	assert.Equal(t, "-32603 The MCP server mine behind this endpoint cannot be reached: the connection was refused (is it running?). The next call tries again.",
		b.mcpError(t, s, callTool))
	assert.Contains(t, b.logs.String(), "server=mine ")
	assert.NotContains(t, b.logs.String(), "5ecret")
	server := &httptest.Server{Listener: listen(), Config: &http.Server{Handler: &oldServer{}}}
	server.Start()
	defer server.Close()
	assert.Empty(t, b.mcpError(t, s, callTool))
	cs := b.connect(t, s, "127.0.0.1", "/mcp", legacy)
	_, err := cs.ListTools(t.Context(), nil)
	require.NoError(t, err)
}
