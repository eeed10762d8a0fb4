package endpoint

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/upstream"
)

func TestAProgramWritesToStderrUnderItsName(t *testing.T) {
	var stderr bytes.Buffer
	at := serveTarget(t, "stdio").at
	b := open(t, Options{Upstream: &Upstream{Target: at, Name: "mine", Stderr: &stderr}})
	s := b.session(t)
	_, err := call(t.Context(), b.connect(t, s, "127.0.0.1", "/mcp", legacy), "echo", nil, nil)
	require.NoError(t, err)
	b.Revoke(s)
	require.NoError(t, b.Close())
	assert.True(t, strings.HasPrefix(stderr.String(), "mine: started "), stderr.String())
	assert.NotContains(t, stderr.String(), "\x1b")
}

func TestAProgramThatIsNotThere(t *testing.T) {
	b := front(t, upstream.Target{Command: []string{"/no/such/5ecret-program", "5ecret"}})
	s := b.session(t)
	for range 2 {
		assert.NotEmpty(t, b.mcpError(t, s, callTool))
	}
	answer := b.mcpError(t, s, callTool)
	assert.Contains(t, answer, "cannot be started (is the program installed, and spelled right?)")
	assert.NotContains(t, answer, "5ecret")
	assert.Equal(t, 1, strings.Count(b.logs.String(), "failed"), "the same is logged once")
}

// One that ends at once, or in the middle of a call, is started anew by the next.
func TestAProgramThatEnds(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	b := front(t, upstream.Target{Command: []string{self, "-test.run=^$"}})
	s := b.session(t)
	for range 2 {
		assert.Contains(t, b.mcpError(t, s, callTool), "has closed the connection")
	}

	at := serveTarget(t, "stdio").at
	at.Env = append(at.Env, dieOn+"=echo")
	b = front(t, at)
	for _, agent := range agentKinds {
		cs := b.connect(t, b.session(t), "127.0.0.1", agent[0], agent[1])
		_, err = call(t.Context(), cs, "echo", nil, nil)
		require.ErrorContains(t, err, "has closed the connection")
		_, err = call(t.Context(), cs, "fails", nil, nil)
		require.NoError(t, err)
		_, err = call(t.Context(), cs, "echo", nil, nil)
		require.Error(t, err)
	}
	assert.Equal(t, 2*len(agentKinds), strings.Count(b.logs.String(), "failed"), "it had answered in between")
}
