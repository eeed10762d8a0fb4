package mcptools

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/dispatch"
)

// Each scope has the tools that it is good for, and no others, and nobody may keep the list
// for another one.
func TestExternalToolsOfScopes(t *testing.T) {
	people := map[string]dispatch.Person{}
	for scope := range map[dispatch.Scope]bool{dispatch.ScopeView: true, dispatch.ScopeOperate: true, dispatch.ScopeAnswer: true} {
		people[string(scope)] = dispatch.Person{Name: string(scope), Scopes: dispatch.Scopes{scope}}
	}
	_, url := outside(t, people)
	for scope, want := range map[string][]string{
		"view": {"list_tasks_kandev"}, "operate": {"create_task_kandev"}, "answer": {"list_pending_agent_permissions_kandev", "resolve_agent_permission_kandev"},
	} {
		s := connect(t, url+"/mcp", "Bearer "+scope, nil)
		assert.ElementsMatch(t, want, names(t, s), scope)
		listed, err := s.ListTools(t.Context(), nil)
		require.NoError(t, err)
		assert.Equal(t, "private", listed.CacheScope)
	}
}

// Who looks at the endpoint with a browser's GET is told what it is for; with POST it works.
func TestGetIsTold(t *testing.T) {
	_, url := outside(t, map[string]dispatch.Person{"desk": {Name: "desk", Scopes: dispatch.Scopes{dispatch.ScopeView}}})
	for method, want := range map[string]int{http.MethodGet: http.StatusMethodNotAllowed, http.MethodPost: http.StatusOK} {
		r, err := http.NewRequestWithContext(t.Context(), method, url+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		require.NoError(t, err)
		for name, value := range map[string]string{"Authorization": "Bearer desk", "Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
			r.Header.Set(name, value)
		}
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		assert.Equal(t, want, answer.StatusCode)
		assert.Equal(t, method == http.MethodGet, strings.Contains(string(body), "with POST"), string(body))
	}
	http.DefaultClient.CloseIdleConnections()
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

// Once a token is dropped its calls have ended, and do not end some time later: whoever
// forgets what they noted does it for good. Another token's goes on.
func TestADroppedTokensCallsHaveEnded(t *testing.T) {
	view := dispatch.Scopes{dispatch.ScopeView}
	d := dispatch.New(nil)
	begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	require.NoError(t, d.Register(dispatch.Action{
		Name: ActionListTasks, Doc: "Waits.", Schema: Schema[Nothing](), Internal: true, Scope: dispatch.ScopeView,
		Handler: func(ctx context.Context, _ dispatch.Origin, _ jsontext.Value) (any, error) {
			begun <- struct{}{}
			<-goOn
			ended <- ctx.Err()
			return map[string]string{}, ctx.Err()
		},
	}))
	e, url := serveExternal(t, d, map[string]dispatch.Person{"desk": {Name: "desk", Scopes: view}, "wall": {Name: "wall", Scopes: view}})
	for range 20 {
		for name, want := range map[string]error{"desk": context.Canceled, "wall": nil} {
			s := connect(t, url+"/mcp/sse", "Bearer "+name, nil)
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				_, _ = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_tasks_kandev"})
			}()
			<-begun
			e.Drop("desk")
			goOn <- struct{}{}
			assert.Equal(t, want, <-ended, name)
			<-answered
		}
	}
}
