package gateway

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/dispatch"
)

// made is a gateway that does not serve, and its address.
func made(t *testing.T) (*Gateway, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g, err := New(Options{Listener: listener, Dispatcher: dispatch.New(nil), Tokens: &people{}, MaySee: maySee})
	require.NoError(t, err)
	return g, listener.Addr().String()
}

// Who comes before the gateway serves waits, and is served then.
func TestAGatewayThatDoesNotServeYet(t *testing.T) {
	g, address := made(t)
	answered := make(chan int, 1)
	go func() {
		answer, err := http.Get("http://" + address + "/healthz")
		if assert.NoError(t, err) {
			assert.NoError(t, answer.Body.Close())
			answered <- answer.StatusCode
		}
		http.DefaultClient.CloseIdleConnections()
	}()
	select {
	case <-answered:
		assert.Fail(t, "it serves already")
	case <-time.After(50 * time.Millisecond):
	}
	g.Serve()
	g.Serve()
	assert.Equal(t, http.StatusOK, <-answered)
	assert.NoError(t, g.Shutdown(context.Background()))
}

// One that never served ends all the same, and its port is free.
func TestAGatewayThatNeverServes(t *testing.T) {
	g, address := made(t)
	require.NoError(t, g.Shutdown(context.Background()))
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	assert.NoError(t, listener.Close())
}
