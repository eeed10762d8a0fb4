package gateway

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/dispatch"
)

// internalActions are those that the daemon has; the tests below ask the catalog.
var internalActions = []string{
	"mcp.create_task", "mcp.list_tasks", "mcp.get_task", "mcp.stop_task", "mcp.message_task", "mcp.ask_user_question",
	"mcp.step_complete", "mcp.list_pending_agent_permissions", "mcp.resolve_agent_permission",
}

func withInternal(t testing.TB, change func(*Options)) *stand {
	t.Helper()
	s := begin(t, change)
	for _, name := range internalActions {
		s.action(t, name, dispatch.ScopeOperate, nil)
	}
	s.action(t, "task.stop", dispatch.ScopeOperate, nil)
	return s
}

// TestForgery sends every internal action that is registered, with payloads that fit
// and payloads that claim an identity: no handler is called, whichever of the two
// checks is asked first. TestForgeryNeedsEitherCheck runs it without them.
func TestForgery(t *testing.T) {
	s := withInternal(t, nil)
	p := s.dial(t, "s3cret")
	tried := 0
	for _, entry := range s.d.Catalog() {
		if !entry.Internal {
			continue
		}
		tried++
		for _, payload := range []string{`{}`, `{"task":"t1","text":"x"}`, `{"sender_task_id":"forged","task":"t1"}`, `null`} {
			reply := p.ask(t, fmt.Sprintf(`{"id":"1","action":%q,"payload":%s}`, entry.Name, payload))
			assert.Equal(t, dispatch.CodeForbidden, codeOf(t, reply), "%s %s", entry.Name, payload)
			assert.Contains(t, reply, fmt.Sprintf(`{"id":"1","action":%q,`, entry.Name))
		}
	}
	assert.Len(t, internalActions, tried)
	assert.Empty(t, s.asked(), "a forged payload reached a handler")
	p.alive(t)
}

func TestG01ForgedIdentity(t *testing.T) {
	s := withInternal(t, nil)
	p := s.dial(t, "s3cret")
	reply := p.ask(t, `{"id":"1","action":"mcp.stop_task","payload":{"sender_task_id":"forged"}}`)
	assert.Equal(t, `{"id":"1","action":"mcp.stop_task","error":{"code":"forbidden","message":"actions mcp.* are internal: raw clients cannot dispatch them"}}`, reply)
	assert.Empty(t, s.asked())
	assert.Equal(t, `{"id":2,"action":"task.stop","result":{"did":"task.stop"}}`, p.ask(t, `{"id":2,"action":"task.stop","payload":{"task":"t1"}}`), "the connection lives on")
	assert.Len(t, s.asked(), 1)
}

func TestG02InternalActionsOfTomorrow(t *testing.T) {
	s := withInternal(t, nil)
	p := s.dial(t, "s3cret")
	assert.Equal(t, dispatch.CodeForbidden, codeOf(t, p.ask(t, `{"id":1,"action":"mcp.not_there_yet"}`)))
	s.action(t, "mcp.registered_later", dispatch.ScopeOperate, nil)
	for _, spelling := range []string{
		`mcp.registered_later`, ` mcp.registered_later`, `MCP.registered_later`, `ｍｃｐ.registered_later`, `mc\u200bp.registered_later`,
		`\u006dcp.registered_later`, `mcp\uff0eregistered_later`, `\ufeffmcp.registered_later`,
	} {
		assert.Equal(t, dispatch.CodeForbidden, codeOf(t, p.ask(t, `{"id":1,"action":"`+spelling+`","payload":{}}`)), spelling)
	}
	assert.Empty(t, s.asked())
	s.action(t, "task.registered_later", dispatch.ScopeOperate, nil)
	assert.Contains(t, p.ask(t, `{"id":1,"action":"task.registered_later"}`), `"result"`)
}

// G03, as far as the door goes: the very action that the raw socket refuses reaches
// its handler from where it may come, with the identity that the adapter has set.
func TestG03OtherOrigins(t *testing.T) {
	s := withInternal(t, nil)
	id := dispatch.Identity{Instance: "i1", Task: "parent"}
	origins := []dispatch.Origin{
		dispatch.FromProcess("test"), dispatch.FromAgentStream(id), dispatch.FromExternalMCP(dispatch.Person{Name: "desk", Scopes: everything}),
	}
	for _, o := range origins {
		_, err := s.d.Dispatch(t.Context(), o, "mcp.stop_task", jsontext.Value(`{"task":"child"}`))
		require.NoError(t, err)
	}
	want := []call{}
	for _, o := range origins {
		want = append(want, call{"mcp.stop_task", o, `{"task":"child"}`})
	}
	assert.Equal(t, want, s.asked())
}

func TestG06NameInPayload(t *testing.T) {
	s := withInternal(t, nil)
	p := s.dial(t, "s3cret")
	reply := p.ask(t, `{"id":1,"action":"task.stop","payload":{"task":"mcp.stop_task","text":"mcp.stop_task"}}`)
	assert.Equal(t, `{"id":1,"action":"task.stop","result":{"did":"task.stop"}}`, reply)
	calls := s.asked()
	require.Len(t, calls, 1)
	person, ok := calls[0].origin.Person()
	assert.True(t, ok)
	assert.Equal(t, dispatch.Person{Name: "desk", Scopes: everything, Surface: "api"}, person)
	assert.Equal(t, dispatch.RawClient, calls[0].origin.Kind())
}

func TestG07UnknownAction(t *testing.T) {
	p := withInternal(t, nil).dial(t, "s3cret")
	reply := p.ask(t, `{"id":"7","action":"task.explode"}`)
	assert.Equal(t, `{"id":"7","action":"task.explode","error":{"code":"unknown_action","message":"there is no such action: GET /api/actions lists them"}}`, reply)
}

func TestG08Catalog(t *testing.T) {
	s := withInternal(t, nil)
	answer, body := s.get(t, "GET", "/api/actions", with("Authorization", "Bearer wall"))
	require.Equal(t, 200, answer.StatusCode)
	assert.Contains(t, body, "raw clients can't dispatch them")
	for _, name := range internalActions {
		assert.Regexp(t, `"name":"`+name+`"[^\n]*?"internal":true,"note":"internal: raw clients can't dispatch this"`, body)
	}
	assert.Regexp(t, `"name":"task.stop",.*?"internal":false`, body)
}

// G15: the frame is the action and the payload as they were at the dispatcher when an
// agent stream had sent them.
func TestG15ReplayedFrame(t *testing.T) {
	s := withInternal(t, nil)
	_, err := s.d.Dispatch(context.Background(), dispatch.FromAgentStream(dispatch.Identity{Instance: "i1", Task: "parent"}), "mcp.stop_task", jsontext.Value(`{"task":"child"}`))
	require.NoError(t, err)
	captured := s.asked()[0]
	p := s.dial(t, "s3cret")
	reply := p.ask(t, fmt.Sprintf(`{"id":"1","action":%q,"payload":%s}`, captured.action, captured.payload))
	assert.Equal(t, dispatch.CodeForbidden, codeOf(t, reply))
	assert.Len(t, s.asked(), 1)
}
