package mcptools

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kandev/assent/internal/host/agentstream"
	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/endpoint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asSomebody adds a header to every request.
type asSomebody struct{ authorization string }

func (a asSomebody) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", a.authorization)
	return http.DefaultTransport.RoundTrip(r)
}

// connect opens an MCP session; a path that ends with /sse means SSE.
func connect(t *testing.T, url, authorization string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	client := &http.Client{Transport: asSomebody{authorization}}
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: client, DisableStandaloneSSE: true, MaxRetries: -1}
	if strings.HasSuffix(url, "/sse") {
		transport = &mcp.SSEClientTransport{Endpoint: url, HTTPClient: client}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close(); http.DefaultTransport.(*http.Transport).CloseIdleConnections() })
	return session
}

// agent is the client of an endpoint in task mode.
func agent(t *testing.T, call Caller, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	return client(t, TaskMode(call), o)
}

// client is one of an endpoint with these tools.
func client(t *testing.T, tools []endpoint.Tool, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	e, err := endpoint.Open(t.Context(), endpoint.Options{Tools: tools})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	s, err := e.NewSession()
	require.NoError(t, err)
	return connect(t, "http://127.0.0.1:"+strconv.Itoa(e.Port())+"/mcp", s.Authorization(), o)
}

func names(t *testing.T, s *mcp.ClientSession) (list []string) {
	t.Helper()
	for tool, err := range s.Tools(t.Context(), nil) {
		require.NoError(t, err)
		assert.Greater(t, len(tool.Description), 80, "%s is written for a model", tool.Name)
		list = append(list, tool.Name)
	}
	return list
}

func text(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	content, ok := r.Content[0].(*mcp.TextContent)
	require.True(t, ok)
	return content.Text
}

func TestTaskMode(t *testing.T) {
	var got []string
	s := agent(t, func(_ context.Context, action string, payload jsontext.Value) (jsontext.Value, error) {
		got = append(got, action+" "+string(payload))
		return jsontext.Value(`{"ok":true}`), nil
	}, nil)
	assert.ElementsMatch(t, []string{
		"create_task_kandev", "list_tasks_kandev", "get_task_kandev", "stop_task_kandev", "message_task_kandev", "ask_user_question_kandev", "step_complete_kandev",
	}, names(t, s))
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string // what is dispatched; empty: nothing, the call is refused
	}{
		{"create_task_kandev", map[string]any{"title": "x"}, `mcp.create_task {"title":"x"}`},
		{"create_task_kandev", map[string]any{"title": "x", "parent": "forged"}, ""},
		{"create_task_kandev", map[string]any{"prompt": "x"}, ""},
		{"list_tasks_kandev", nil, `mcp.list_tasks {}`},
		{"list_tasks_kandev", map[string]any{"task": "forged"}, ""},
		{"get_task_kandev", map[string]any{"task": "t"}, `mcp.get_task {"task":"t"}`},
		{"stop_task_kandev", map[string]any{"task": "t"}, `mcp.stop_task {"task":"t"}`},
		{"stop_task_kandev", map[string]any{"task": "t", "sender_task_id": "forged"}, ""},
		{"stop_task_kandev", map[string]any{"task": 7}, ""},
		{"message_task_kandev", map[string]any{"task": "t", "text": "hi"}, `mcp.message_task {"task":"t","text":"hi"}`},
		{"ask_user_question_kandev", map[string]any{"text": "?", "options": []string{"a", "b"}}, `mcp.ask_user_question {"options":["a","b"],"text":"?"}`},
		{"step_complete_kandev", map[string]any{"summary": "done"}, `mcp.step_complete {"summary":"done"}`},
	} {
		got = nil
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: c.arguments})
		require.NoError(t, err)
		if c.want == "" {
			assert.True(t, r.IsError, "%s %v", c.tool, c.arguments)
			assert.Empty(t, got)
			continue
		}
		assert.False(t, r.IsError)
		assert.JSONEq(t, `{"ok":true}`, text(t, r))
		require.Len(t, got, 1)
		action, payload, _ := strings.Cut(got[0], " ")
		wantAction, wantPayload, _ := strings.Cut(c.want, " ")
		assert.Equal(t, wantAction, action)
		assert.JSONEq(t, wantPayload, payload)
	}
}

// A model reads what our own errors say, and of others nothing.
func TestErrorsOfTaskMode(t *testing.T) {
	var failure error
	s := agent(t, func(context.Context, string, jsontext.Value) (jsontext.Value, error) { return nil, failure }, nil)
	for want, err := range map[string]error{
		"not_found: there is no such task":        &dispatch.Error{Code: dispatch.CodeNotFound, Message: "there is no such task"},
		"unavailable: the host is ending":         agentstream.ErrClosed,
		"unavailable: the host cannot be reached": errors.New("s3cret"),
	} {
		failure = err
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_tasks_kandev"})
		require.NoError(t, err)
		assert.True(t, r.IsError)
		assert.Contains(t, text(t, r), want)
		assert.NotContains(t, text(t, r), "s3cret")
	}
}

// A client that waits for a person hears that it is still worth waiting.
func TestProgress(t *testing.T) {
	heard := make(chan string, 100)
	released := make(chan struct{})
	impatient := tool{name: "ask", title: "Ask", schema: Schema[Question](), progress: time.Millisecond}
	tools := []endpoint.Tool{endpoint.NewTool(impatient.definition(), impatient.handler(func(ctx context.Context, _ string, _ jsontext.Value) (jsontext.Value, error) {
		select {
		case <-released:
			return jsontext.Value(`{"answer":"yes"}`), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}))}
	s := client(t, tools, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		select {
		case heard <- r.Params.Message:
		default:
		}
	}})
	done := make(chan *mcp.CallToolResult, 1)
	go func() {
		p := &mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"text": "?"}}
		p.SetProgressToken("p")
		r, _ := s.CallTool(t.Context(), p)
		done <- r
	}()
	assert.Equal(t, "waiting for the user", <-heard)
	assert.Equal(t, "waiting for the user", <-heard)
	close(released)
	r := <-done
	require.NotNil(t, r)
	assert.JSONEq(t, `{"answer":"yes"}`, text(t, r))
}

type personKey struct{}

// outside is an external server whose tokens are names.
func outside(t *testing.T, people map[string]dispatch.Person) (*External, string) {
	t.Helper()
	d := dispatch.New(nil)
	for _, name := range []string{ActionListTasks, ActionResolvePermission} {
		scope, schema := dispatch.ScopeView, Schema[Nothing]()
		if name == ActionResolvePermission {
			scope, schema = dispatch.ScopeAnswer, Schema[Resolution]()
		}
		require.NoError(t, d.Register(dispatch.Action{
			Name: name, Doc: "Says who asks.", Schema: schema, Internal: true, Scope: scope,
			Handler: func(_ context.Context, o dispatch.Origin, _ jsontext.Value) (any, error) {
				p, ok := o.Person()
				assert.True(t, ok)
				return map[string]string{"who": p.Name, "kind": o.Kind().String()}, nil
			},
		}))
	}
	return serveExternal(t, d, people)
}

// serveExternal serves the tools of a dispatcher to tokens that are names.
func serveExternal(t *testing.T, d *dispatch.Dispatcher, people map[string]dispatch.Person) (*External, string) {
	t.Helper()
	e := &External{Dispatcher: d, Version: "test", PersonOf: func(ctx context.Context) (dispatch.Person, bool) {
		p, ok := people[ctx.Value(personKey{}).(string)]
		return p, ok
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		e.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), personKey{}, name)))
	}))
	t.Cleanup(server.Close)
	return e, server.URL
}

func TestExternal(t *testing.T) {
	all := dispatch.Scopes{dispatch.ScopeView, dispatch.ScopeOperate, dispatch.ScopeAnswer}
	people := map[string]dispatch.Person{
		"desk": {Name: "desk", Scopes: all}, "wall": {Name: "wall", Scopes: dispatch.Scopes{dispatch.ScopeView}},
	}
	e, url := outside(t, people)
	answering := []string{"create_task_kandev", "list_tasks_kandev", "list_pending_agent_permissions_kandev", "resolve_agent_permission_kandev"}
	for _, path := range []string{"/mcp", "/mcp/sse"} {
		desk, wall := connect(t, url+path, "Bearer desk", nil), connect(t, url+path, "Bearer wall", nil)
		assert.ElementsMatch(t, answering, names(t, desk))
		assert.ElementsMatch(t, answering[1:2], names(t, wall))
		for name, s := range map[string]*mcp.ClientSession{"desk": desk, "wall": wall} {
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_tasks_kandev"})
			require.NoError(t, err)
			assert.JSONEq(t, `{"who":"`+name+`","kind":"external_mcp"}`, text(t, r))
		}
		_, err := wall.CallTool(t.Context(), &mcp.CallToolParams{Name: "resolve_agent_permission_kandev", Arguments: map[string]any{"session": "s", "request": "r", "choice": "allow"}})
		assert.ErrorContains(t, err, "unknown tool")
		r, err := desk.CallTool(t.Context(), &mcp.CallToolParams{Name: "resolve_agent_permission_kandev", Arguments: map[string]any{"session": "s", "request": "r", "choice": "allow"}})
		require.NoError(t, err)
		assert.False(t, r.IsError, text(t, r))
	}
	answer, err := http.Get(url + "/mcp")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	assert.Equal(t, http.StatusUnauthorized, answer.StatusCode)

	// A token that was deleted ends what it has open, and one of the same name that
	// may less has less.
	stream := connect(t, url+"/mcp/sse", "Bearer desk", nil)
	e.Drop("desk")
	_ = stream.Wait()
	people["desk"] = people["wall"]
	assert.ElementsMatch(t, answering[1:2], names(t, connect(t, url+"/mcp", "Bearer desk", nil)))
}

func TestSchemasAreClosed(t *testing.T) {
	d := dispatch.New(nil)
	for i, a := range []dispatch.Action{
		{Schema: Schema[Nothing]()}, {Schema: Schema[NewTask]()}, {Schema: Schema[NewTaskAnywhere]()}, {Schema: Schema[TaskID]()},
		{Schema: Schema[Message]()}, {Schema: Schema[Question]()}, {Schema: Schema[Completion]()}, {Schema: Schema[Resolution]()},
	} {
		a.Name, a.Doc, a.Internal = "mcp.x"+strconv.Itoa(i), "x", true
		a.Handler = func(context.Context, dispatch.Origin, jsontext.Value) (any, error) { return nil, nil }
		assert.NoError(t, d.Register(a))
	}
	assert.Contains(t, Schema[NewTaskAnywhere]().Properties, "title", "the embedded payload is a part of it")
}

// A call that came over SSE ends with its token, although the request that brought it
// is over. Another token's goes on.
func TestExternalCallOfADeletedToken(t *testing.T) {
	view := dispatch.Scopes{dispatch.ScopeView}
	d := dispatch.New(nil)
	begun, goOn := make(chan string), make(chan struct{})
	require.NoError(t, d.Register(dispatch.Action{
		Name: ActionListTasks, Doc: "Waits.", Schema: Schema[Nothing](), Internal: true, Scope: dispatch.ScopeView,
		Handler: func(ctx context.Context, o dispatch.Origin, _ jsontext.Value) (any, error) {
			p, _ := o.Person()
			begun <- p.Name
			select {
			case <-ctx.Done():
				begun <- "cancelled " + p.Name
				return nil, ctx.Err()
			case <-goOn:
				return map[string]string{"who": p.Name}, nil
			}
		},
	}))
	e, url := serveExternal(t, d, map[string]dispatch.Person{"desk": {Name: "desk", Scopes: view}, "wall": {Name: "wall", Scopes: view}})
	answers := map[string]chan *mcp.CallToolResult{}
	for _, name := range []string{"desk", "wall"} {
		s, answer := connect(t, url+"/mcp/sse", "Bearer "+name, nil), make(chan *mcp.CallToolResult, 1)
		answers[name] = answer
		go func() {
			r, _ := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_tasks_kandev"})
			answer <- r
		}()
		assert.Equal(t, name, <-begun)
	}
	e.Drop("desk")
	assert.Equal(t, "cancelled desk", <-begun)
	close(goOn)
	r := <-answers["wall"]
	require.NotNil(t, r)
	assert.JSONEq(t, `{"who":"wall"}`, text(t, r))
}
