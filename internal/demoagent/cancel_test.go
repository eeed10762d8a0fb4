package demoagent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline/acp"
)

const cancelSession = `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"%s"}}`

// After session/cancel the turn waits for the answers of what is open, runs
// nothing whatever they are, and begins nothing more.
func TestSessionCancel(t *testing.T) {
	for name, answer := range map[string]string{
		"answered cancelled":         answerCancelled,
		"answered allow, too late":   selects("allow-once"),
		"answered always, too late":  selects("allow-with-updates"),
		"answered with an error too": answerError,
	} {
		t.Run(name, func(t *testing.T) {
			ran, servers := twoServers(t)
			c := start(t, Options{ShellCommand: proofCommand})
			dir := c.open(servers...)
			got := c.prompt("shell plan other", func(*acp.Offer) string {
				c.sendf(cancelSession, c.session)
				return answer
			})
			assert.Equal(t, "cancelled", got.stop)
			assert.Equal(t, []string{"Bash"}, got.asked)
			assert.Equal(t, []string{"failed"}, got.ends)
			assert.Contains(t, got.said, "Did not run: the shell command (the turn was cancelled).")
			assert.Empty(t, ran.tools())
			_, err := os.Stat(filepath.Join(dir, "proof"))
			assert.ErrorIs(t, err, os.ErrNotExist)

			got = c.prompt("shell", always(selects("reject")))
			assert.Equal(t, []string{"Bash"}, got.asked, "nothing was remembered, and the session goes on")
			assert.Equal(t, "end_turn", got.stop)
		})
	}
}

// The twin: cancelling another session, or none, changes nothing.
func TestSessionCancelOfAnother(t *testing.T) {
	ran, servers := twoServers(t)
	c := start(t, Options{})
	c.open(servers...)
	c.sendf(cancelSession, c.session)
	got := c.prompt("plan", func(*acp.Offer) string {
		c.sendf(cancelSession, "another")
		c.sendf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"a","sessionId":"%s"}}`, c.session)
		c.send(`{"jsonrpc":"2.0","method":"session/cancel"}`)
		c.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"x"}}`)
		return selects("allow-once")
	})
	assert.Equal(t, "end_turn", got.stop)
	assert.Len(t, ran.all(), 2)
}

// A withdrawn prompt withdraws what it asked.
func TestCancelRequestOfAPrompt(t *testing.T) {
	ran, servers := twoServers(t)
	c := start(t, Options{})
	c.open(servers...)
	id := c.request("session/prompt", promptParams(c.session, "plan"))
	got := c.play(id, func(o *acp.Offer) string {
		c.sendf(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%s}}`, id)
		f := c.next()
		assert.Equal(t, "$/cancel_request", f.Method, f.line)
		assert.Equal(t, float64(0), f.object["params"].(object)["requestId"])
		assert.Equal(t, "0", o.ID.String())
		return answerCancelled
	})
	assert.Equal(t, "cancelled", got.stop)
	assert.Len(t, got.asked, 1)
	assert.Empty(t, ran.all())
}

// playUntilRunning allows everything and cancels as soon as something runs.
func (c *client) playUntilRunning(id string) played {
	c.t.Helper()
	for {
		f := c.next()
		if f.Offer != nil {
			c.sendf(`{"jsonrpc":"2.0","id":%s,%s}`, f.Offer.ID, selects("allow-once"))
		}
		params, _ := f.object["params"].(object)
		update, _ := params["update"].(object)
		if update["status"] == "in_progress" {
			c.sendf(cancelSession, c.session)
			p := c.play(id, always(""))
			return p
		}
	}
}

// A tool of a server that never answers is left behind.
func TestCancelLeavesATool(t *testing.T) {
	arrived, release := make(chan toolRun, 1), make(chan struct{})
	server := mcp.NewServer(&mcp.Implementation{Name: "slow"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "slow"}, slowTool(arrived, release))
	at := serveMCP(t, "http", server, &runs{})
	t.Cleanup(func() { close(release) })

	c := start(t, Options{})
	c.open(entry("http", "slow", at.URL))
	id := c.request("session/prompt", promptParams(c.session, "other"))
	got := c.playUntilRunning(id)
	assert.Equal(t, "cancelled", got.stop)
	assert.Equal(t, []string{"failed"}, got.ends)
	require.NoError(t, c.end())
}

// A withdrawn session/load leaves the session as it was.
func TestWithdrawnLoad(t *testing.T) {
	reached := make(chan struct{}, 9)
	hangs := hangingServer(t, reached)
	ran, servers := twoServers(t)
	c := start(t, Options{})
	c.open(servers...)
	id := c.request("session/load", object{
		"sessionId": c.session, "cwd": t.TempDir(), "mcpServers": []object{entry("http", "kandev", hangs)},
	})
	<-reached
	c.sendf(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%s}}`, id)
	assert.Equal(t, -32800, errorCode(t, c.response(id)))
	c.prompt("plan", always(selects("allow-once")))
	assert.Len(t, ran.all(), 2)
	require.NoError(t, c.end())
}
