package serve

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/gateway"
	"github.com/kandev/assent/internal/host/mcptools"
)

// Every internal action of the daemon, with a forged payload from the raw socket:
// forbidden, with the id and the action as they came, and no handler is called. The
// connection lives on.
func TestG01G02NoInternalActionFromARawClient(t *testing.T) {
	r := begin(t, nil)
	secret := r.token("desk", all)
	d := dispatch.New(nil)
	var called atomic.Int64
	var internal []string
	for _, e := range r.dispatcher.Catalog() { // whatever the daemon registers
		if e.Internal {
			internal = append(internal, e.Name)
		}
	}
	require.Len(t, internal, 9)
	var known []string
	for _, a := range r.internalActions() {
		known = append(known, a.Name)
		a.Handler = func(context.Context, dispatch.Origin, jsontext.Value) (any, error) {
			called.Add(1)
			return struct{}{}, nil
		}
		require.NoError(t, d.Register(a))
	}
	require.ElementsMatch(t, internal, known)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g, err := gateway.Open(gateway.Options{Listener: listener, Dispatcher: d, Tokens: people{r.tokens}, MaySee: r.maySee})
	require.NoError(t, err)
	t.Cleanup(func() { _ = g.Shutdown(context.Background()) })
	p := dial(t, "http://"+listener.Addr().String()+"/", secret)
	for _, name := range internal {
		require.True(t, dispatch.Internal(name))
		for _, payload := range []string{`{}`, `{"task":"t","sender_task_id":"forged"}`, `{"title":"x","text":"x","summary":"x","task":"t","session":"s","request":"r"}`} {
			m, ok := p.call(name, payload)
			require.True(t, ok)
			require.NotNil(t, m.Error, name)
			assert.Equal(t, "forbidden", m.Error.Code, name)
			assert.Equal(t, name, m.Action)
		}
	}
	assert.Equal(t, "forbidden", p.refused("mcp.not_there_yet", "{}"))
	assert.Equal(t, "unknown_action", p.refused("no.such", "{}"))
	assert.Zero(t, called.Load())
	_, err = d.Dispatch(t.Context(), dispatch.FromProcess("test"), mcptools.ActionListTasks, nil)
	require.NoError(t, err)
	assert.Equal(t, int64(1), called.Load(), "from elsewhere the handler is reached")
}

// An agent that is asked about makes no other agent that is not.
func TestAnAgentGivesNoMoreThanItHas(t *testing.T) {
	r := begin(t, func(c *Config) {
		withKeeper(t)(c)
		free := agentOf(t, "keeper")
		free.AutoApprove = true
		c.Agents["free"] = free
	})
	p := r.dial(r.token("desk", all))
	p.watch()
	_, way := p.keep("asked", "")
	agent := way.connect(t)
	text, failed := tool(t, agent, "create_task_kandev", map[string]any{"title": "x", "prompt": "offer", "agent": "free"})
	assert.True(t, failed)
	assert.Contains(t, text, "forbidden")
	text, failed = tool(t, agent, "create_task_kandev", map[string]any{"title": "x", "agent": "demo"})
	assert.False(t, failed, text)

	dir := t.TempDir()
	var free wireTask
	p.ask("task.start", fmt.Sprintf(`{"title":"free","prompt":"hello","agent":"free","directory":%q}`, dir), &free)
	p.says(free.ID, "heard: hello")
	text, failed = tool(t, theft(t, dir).connect(t), "create_task_kandev", map[string]any{"title": "x"})
	assert.False(t, failed, text)
}
