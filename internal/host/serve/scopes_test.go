package serve

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each scope alone is enough for the actions that need it, and for no others.
func TestWhatOneScopeIsEnoughFor(t *testing.T) {
	r := begin(t, nil)
	desk := r.dial(r.token("desk", all))
	desk.watch()
	made := desk.start("shell", "shell")
	offer := desk.opens(made.ID)
	asking := desk.start("ask", `ask "Which colour?"`)
	asked := until(desk, "question.opened", func(e struct {
		Question questionView `json:"question"`
	}) bool {
		return e.Question.Task == asking.ID
	}).Question

	one := fmt.Sprintf(`{"task":%q}`, made.ID)
	actions := []struct{ scope, action, payload string }{
		{"view", "state.watch", "{}"},
		{"view", "task.list", "{}"},
		{"view", "task.get", one},
		{"view", "instance.list", "{}"},
		{"view", "permission.list", "{}"},
		{"view", "question.list", "{}"},
		{"view", "audit.tail", "{}"},
		{"answer", "permission.detail", fmt.Sprintf(`{"session":%q,"request":%q}`, offer.Session, offer.Request)},
		{"answer", "permission.resolve", offer.resolve(`{"choice":"allow"}`)},
		{"answer", "question.answer", fmt.Sprintf(`{"question":%q,"answer":"blue"}`, asked.ID)},
		{"operate", "task.start", `{"title":"top"}`},
		{"operate", "task.start", fmt.Sprintf(`{"title":"below","parent":%q}`, made.ID)},
		{"operate", "task.prompt", fmt.Sprintf(`{"task":%q,"text":"hello"}`, made.ID)},
		{"operate", "task.cancel", one},
		{"operate", "task.stop", one},
	}
	for _, scope := range all {
		p := r.dial(r.token(scope, []string{scope}))
		for _, a := range actions {
			if a.scope != scope {
				assert.Equal(t, "forbidden", p.refused(a.action, a.payload), "%s with %s", a.action, scope)
			}
		}
	}
	for _, a := range actions {
		p := r.dial(r.token("own-"+a.scope, []string{a.scope}))
		p.ask(a.action, a.payload, nil)
		require.NoError(t, r.tokens.Delete(t.Context(), "own-"+a.scope))
	}
}

// In other MCP clients, too, who answers needs to see nothing else.
func TestWhatAnsweringIsEnoughForInMCP(t *testing.T) {
	r := begin(t, nil)
	desk := r.dial(r.token("desk", all))
	desk.watch()
	waiting := desk.opens(desk.start("shell", "shell").ID)
	other := desk.start("other", "")
	client := r.external(r.token("clerk", []string{"answer"})).connect(t)
	text, failed := tool(t, client, "list_pending_agent_permissions_kandev", nil)
	require.False(t, failed, text)
	assert.Contains(t, text, waiting.Request)
	text, failed = tool(t, client, "resolve_agent_permission_kandev", map[string]any{"session": waiting.Session, "request": waiting.Request, "choice": "deny"})
	require.False(t, failed, text)
	stranger := r.external(r.token("stranger", []string{"answer"}, string(other.ID))).connect(t)
	text, failed = tool(t, stranger, "resolve_agent_permission_kandev", map[string]any{"session": waiting.Session, "request": waiting.Request, "choice": "deny"})
	assert.True(t, failed)
	assert.Contains(t, text, "not_found", "of a task that it does not reach")
}
