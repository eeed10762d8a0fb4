package mcptools

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/dispatch"
)

// Each scope has the tools that it is good for, and no others.
func TestExternalToolsOfScopes(t *testing.T) {
	people := map[string]dispatch.Person{}
	for scope := range map[dispatch.Scope]bool{dispatch.ScopeView: true, dispatch.ScopeOperate: true, dispatch.ScopeAnswer: true} {
		people[string(scope)] = dispatch.Person{Name: string(scope), Scopes: dispatch.Scopes{scope}}
	}
	_, url := outside(t, people)
	for scope, want := range map[string][]string{
		"view": {"list_tasks_kandev"}, "operate": {"create_task_kandev"}, "answer": {"list_pending_agent_permissions_kandev", "resolve_agent_permission_kandev"},
	} {
		assert.ElementsMatch(t, want, names(t, connect(t, url+"/mcp", "Bearer "+scope, nil)), scope)
	}
}

// What is wrong with arguments is said in words of the schema, and nothing of them.
func TestArgumentsThatDoNotFit(t *testing.T) {
	_, url := outside(t, map[string]dispatch.Person{"desk": {Name: "desk", Scopes: dispatch.Scopes{dispatch.ScopeAnswer, dispatch.ScopeView}}})
	s := connect(t, url+"/mcp", "Bearer desk", nil)
	for _, test := range []struct {
		tool      string
		arguments any
		want      string // empty: it is fine
	}{
		{"list_tasks_kandev", nil, ""},
		{"list_tasks_kandev", map[string]any{}, ""},
		{"list_tasks_kandev", map[string]any{"s3cret": 1}, "invalid_payload: a property is there that the action does not have: it has none"},
		{"resolve_agent_permission_kandev", map[string]any{"session": "s", "request": "r", "choice": "allow"}, ""},
		{"resolve_agent_permission_kandev", map[string]any{"session": "s", "choice": "s3cret"}, `invalid_payload: "request" is missing`},
		{"resolve_agent_permission_kandev", map[string]any{"session": 7, "request": "r"}, `invalid_payload: "session" does not fit`},
	} {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: test.tool, Arguments: test.arguments})
		require.NoError(t, err)
		assert.Equal(t, test.want != "", r.IsError, test.arguments)
		assert.Contains(t, text(t, r), test.want)
		assert.NotContains(t, text(t, r), "s3cret")
	}
}
