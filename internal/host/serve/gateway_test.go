package serve

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/agentstream"
	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/gateway"
	"github.com/kandev/assent/internal/host/mcptools"
	"github.com/kandev/assent/internal/host/task"
)

// external is the way to the daemon's MCP server with a token.
func (r *rig) external(secret string) stolen { return stolen{r.URL() + "mcp", "Bearer " + secret} }

// stateOf is the state of a task.
func (r *rig) stateOf(id string) task.State {
	r.t.Helper()
	t, err := r.tasks.Get(task.Host{}, task.ID(id))
	require.NoError(r.t, err)
	return t.State
}

const stopped = `{"state":"stopped"}`

// One action, in the process, over an agent stream, and as a tool of the external
// MCP server where one is registered: each reaches the handler as whom the adapter says.
func TestG03InternalActionsReachTheirHandler(t *testing.T) {
	r := begin(t, withKeeper(t))
	secret := r.token("desk", all)
	p := r.dial(secret)
	p.watch()
	parent, way := p.keep("parent", "")
	agent := way.connect(t)
	first, second, third := madeBy(t, agent, "one"), madeBy(t, agent, "two"), madeBy(t, agent, "three")

	text, failed := tool(t, agent, "stop_task_kandev", map[string]any{"task": first})
	assert.False(t, failed)
	assert.JSONEq(t, stopped, text, "the adapter says that this is the parent")
	text, failed = tool(t, agent, "stop_task_kandev", map[string]any{"task": string(parent.ID)})
	assert.True(t, failed, text)
	assert.Contains(t, text, "not_found", "no task is its own parent")

	result, err := r.dispatcher.Dispatch(t.Context(), dispatch.FromProcess("test"), mcptools.ActionStopTask, jsontext.Value(fmt.Sprintf(`{"task":%q}`, second)))
	require.NoError(t, err)
	assert.Equal(t, stateResult{task.OutcomeStopped}, result)

	text, failed = tool(t, withStop(t, r, secret).connect(t), "stop", map[string]any{"task": third})
	assert.False(t, failed, text)
	assert.JSONEq(t, stopped, text)
	for _, id := range []string{first, second, third} {
		assert.Equal(t, task.Stopped, r.stateOf(id))
	}
}

// withStop is a gateway with an external MCP server that registers a tool for stop.
func withStop(t *testing.T, r *rig, secret string) stolen {
	t.Helper()
	server := func(req *http.Request) *mcp.Server {
		person, ok := gateway.PersonOf(req.Context())
		require.True(t, ok)
		s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		mcp.AddTool(s, &mcp.Tool{Name: "stop"}, func(ctx context.Context, _ *mcp.CallToolRequest, in mcptools.TaskID) (*mcp.CallToolResult, any, error) {
			payload, err := json.Marshal(in)
			require.NoError(t, err)
			result, err := r.dispatcher.Dispatch(ctx, dispatch.FromExternalMCP(person), mcptools.ActionStopTask, payload)
			return nil, result, err
		})
		return s
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g, err := gateway.Open(gateway.Options{
		Listener: listener, Dispatcher: r.dispatcher, Tokens: people{r.tokens}, MaySee: r.maySee,
		MCP: mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{Stateless: true}),
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = g.Shutdown(context.Background()) })
	return stolen{"http://" + listener.Addr().String() + "/mcp", "Bearer " + secret}
}

// status is what the endpoint answers to a list of tools with these credentials.
func status(t *testing.T, url, authorization string, change func(*http.Request)) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	if change != nil {
		change(r)
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode
}

// An agent's MCP server without credentials, with unknown ones, and with those of
// another instance: refused before any action.
func TestG04AgentStreamsNeedTheirOwnCredentials(t *testing.T) {
	r := begin(t, withKeeper(t))
	p := r.dial(r.token("desk", all))
	p.watch()
	_, one := p.keep("one", "")
	_, two := p.keep("two", "")
	for name, authorization := range map[string]string{
		"none": "", "unknown": "Bearer nobody", "another instance's": two.authorization, "a person's": "Bearer " + r.token("else", all),
	} {
		assert.Equal(t, http.StatusUnauthorized, status(t, one.url, authorization, nil), name)
		_, err := stolen{one.url, authorization}.tryConnect(t)
		assert.Error(t, err, name)
	}
	assert.Equal(t, http.StatusOK, status(t, one.url, one.authorization, nil), "its own")
	madeBy(t, one.connect(t), "a child")
}

// The external MCP server has no tool that stops, asks or completes.
func TestG05TheExternalServerDoesNotHaveTheTool(t *testing.T) {
	r := begin(t, withKeeper(t))
	secret := r.token("desk", all)
	p := r.dial(secret)
	p.watch()
	made, way := p.keep("victim", "")
	session := r.external(secret).connect(t)
	var names []string
	for tool, err := range session.Tools(t.Context(), nil) {
		require.NoError(t, err)
		names = append(names, tool.Name)
	}
	assert.ElementsMatch(t, []string{"list_tasks_kandev", "create_task_kandev", "list_pending_agent_permissions_kandev", "resolve_agent_permission_kandev"}, names)
	for _, name := range []string{"stop_task_kandev", "ask_user_question_kandev", "step_complete_kandev", "mcp.stop_task"} {
		_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{"task": string(made.ID)}})
		assert.ErrorContains(t, err, "unknown tool", name)
	}
	assert.Eventually(t, func() bool { return r.stateOf(string(made.ID)) == task.Idle }, patience, time.Millisecond, "its turn ends, and it has not ended itself")
	text, failed := tool(t, way.connect(t), "get_task_kandev", map[string]any{"task": string(made.ID)})
	assert.False(t, failed, text)

	limited := r.external(r.token("looker", []string{"view"})).connect(t)
	names = nil
	for tool, err := range limited.Tools(t.Context(), nil) {
		require.NoError(t, err)
		names = append(names, tool.Name)
	}
	assert.ElementsMatch(t, []string{"list_tasks_kandev"}, names, "the others need the scopes operate and answer")
	_, err := limited.CallTool(t.Context(), &mcp.CallToolParams{Name: "create_task_kandev", Arguments: map[string]any{"title": "no"}})
	assert.ErrorContains(t, err, "unknown tool")
}

// A person who may not see a task answers its offer: the same as for an id that does
// not exist, and the offer stays open.
func TestG09OffersOfOthersDoNotExist(t *testing.T) {
	r := begin(t, nil)
	desk := r.dial(r.token("desk", all))
	desk.watch()
	mine, theirs := desk.start("mine", "shell"), desk.start("theirs", "shell")
	myOffer, theirOffer := desk.opens(mine.ID), desk.opens(theirs.ID)

	guest := r.dial(r.token("guest", all, string(mine.ID)))
	for _, action := range []string{"permission.resolve", "permission.detail"} {
		payload := func(o wireOffer) string {
			if action == "permission.detail" {
				return fmt.Sprintf(`{"session":%q,"request":%q}`, o.Session, o.Request)
			}
			return o.resolve(`{"choice":"allow"}`)
		}
		unknown := theirOffer
		unknown.Request = "nothing-7"
		there, ok := guest.call(action, payload(theirOffer))
		require.True(t, ok)
		none, ok := guest.call(action, payload(unknown))
		require.True(t, ok)
		require.NotNil(t, there.Error)
		assert.Equal(t, "not_found", there.Error.Code)
		assert.Equal(t, none.Error, there.Error)
	}
	var open struct {
		Offers []wireOffer `json:"offers"`
	}
	desk.ask("permission.list", "{}", &open)
	assert.Len(t, open.Offers, 2, "it stays open")
	guest.ask("permission.list", "{}", &open)
	require.Len(t, open.Offers, 1)
	assert.Equal(t, myOffer.Request, open.Offers[0].Request)
	guest.ask("permission.resolve", myOffer.resolve(`{"choice":"allow"}`), nil)
	desk.closes(myOffer)

	for _, action := range []string{"task.get", "task.stop", "task.cancel"} {
		assert.Equal(t, "not_found", guest.refused(action, fmt.Sprintf(`{"task":%q}`, theirs.ID)), action)
	}
	desk.ask("permission.resolve", theirOffer.resolve(`{"choice":"deny"}`), nil)
	desk.says(theirs.ID, "Did not run")
}

// A client subscribes to a task that it may not see: refused before any state, and no
// later event of it arrives.
func TestG12NoStateAndNoEventsOfTasksOfOthers(t *testing.T) {
	r := begin(t, nil)
	desk := r.dial(r.token("desk", all))
	desk.watch()
	mine, theirs := desk.start("mine", ""), desk.start("theirs", "")
	guest := r.dial(r.token("guest", all, string(mine.ID)))
	assert.Equal(t, "not_found", guest.refused("state.watch", fmt.Sprintf(`{"task":%q}`, theirs.ID)))
	none, _ := guest.call("state.watch", `{"task":"task-nothing"}`)
	there, _ := guest.call("state.watch", fmt.Sprintf(`{"task":%q}`, theirs.ID))
	assert.Equal(t, none.Error, there.Error)

	desk.ask("task.prompt", fmt.Sprintf(`{"task":%q,"text":"shell"}`, theirs.ID), nil)
	desk.ask("permission.resolve", desk.opens(theirs.ID).resolve(`{"choice":"allow"}`), nil)
	desk.settles(theirs.ID, task.Idle)
	assert.Empty(t, guest.heard(), "nothing is watched")

	seen := guest.watch()
	require.Len(t, seen.Tasks, 1)
	assert.Equal(t, mine.ID, seen.Tasks[0].ID)
	desk.ask("task.prompt", fmt.Sprintf(`{"task":%q,"text":"shell"}`, theirs.ID), nil)
	desk.settles(theirs.ID, task.Running)
	desk.ask("task.prompt", fmt.Sprintf(`{"task":%q,"text":"shell"}`, mine.ID), nil)
	guest.ask("permission.resolve", guest.opens(mine.ID).resolve(`{"choice":"allow"}`), nil)
	guest.settles(mine.ID, task.Idle)
	guest.mu.Lock()
	defer guest.mu.Unlock()
	for _, e := range guest.events {
		assert.NotContains(t, string(e.Payload), string(theirs.ID))
	}
}

// An agent's MCP server called by a web page, without its header, and with that of
// another session; the agent's own call works on both loopbacks.
func TestG14TheInjectedEndpointIsForItsSession(t *testing.T) {
	r := begin(t, withKeeper(t))
	p := r.dial(r.token("desk", all))
	p.watch()
	_, way := p.keep("one", "")
	_, other := p.keep("two", "")
	at, err := url.Parse(way.url)
	require.NoError(t, err)
	for _, refused := range []struct {
		name, authorization string
		change              func(*http.Request)
		want                int
	}{
		{"the Host of a page", way.authorization, func(r *http.Request) { r.Host = "evil.example:" + at.Port() }, http.StatusForbidden},
		{"the Origin of a page", way.authorization, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden},
		{"a null Origin", way.authorization, func(r *http.Request) { r.Header.Set("Origin", "null") }, http.StatusForbidden},
		{"no header", "", nil, http.StatusUnauthorized},
		{"another session's header", other.authorization, nil, http.StatusUnauthorized},
	} {
		assert.Equal(t, refused.want, status(t, way.url, refused.authorization, refused.change), refused.name)
	}
	assert.Equal(t, http.StatusOK, status(t, other.url, other.authorization, nil), "it counts for its own session")
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]"} {
		if host == "[::1]" && !hasIPv6() {
			continue
		}
		assert.Equal(t, http.StatusOK, status(t, "http://"+host+":"+at.Port()+"/mcp", way.authorization, nil), host)
	}
}

func hasIPv6() bool {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}

// What an agent's adapter hands to the dispatcher, word for word from a raw client:
// forbidden.
func TestG15ReplayedAgentFramesAreForbidden(t *testing.T) {
	r := begin(t, withKeeper(t))
	p := r.dial(r.token("desk", all))
	p.watch()
	parent, way := p.keep("parent", "")
	agent := way.connect(t)
	victim := madeBy(t, agent, "victim")

	// The adapter of the same instance, with a line that is listened to.
	stream, err := agentstream.NewLocal(r.dispatcher, dispatch.Identity{Instance: "1", Task: string(parent.ID)})
	require.NoError(t, err)
	defer stream.Close()
	var mu sync.Mutex
	var frames []string
	e, err := endpoint.Open(t.Context(), endpoint.Options{Tools: mcptools.TaskMode(func(ctx context.Context, action string, payload jsontext.Value) (jsontext.Value, error) {
		mu.Lock()
		frames = append(frames, fmt.Sprintf(`{"id":"x","action":%q,"payload":%s}`, action, payload))
		mu.Unlock()
		if action == mcptools.ActionStopTask {
			return jsontext.Value(stopped), nil // captured on its way
		}
		return stream.Dispatch(ctx, action, payload)
	})})
	require.NoError(t, err)
	defer func() { _ = e.Close() }()
	session, err := e.NewSession()
	require.NoError(t, err)
	tapped := stolen{fmt.Sprintf("http://127.0.0.1:%d/mcp", e.Port()), session.Authorization()}.connect(t)
	_, failed := tool(t, tapped, "stop_task_kandev", map[string]any{"task": victim})
	assert.False(t, failed)
	_, failed = tool(t, tapped, "get_task_kandev", map[string]any{"task": victim})
	assert.False(t, failed)

	require.Len(t, frames, 2)
	for _, frame := range frames {
		var m struct {
			Action  string         `json:"action"`
			Payload jsontext.Value `json:"payload"`
		}
		require.NoError(t, json.Unmarshal([]byte(frame), &m))
		assert.Equal(t, "forbidden", p.refused(m.Action, string(m.Payload)))
	}
	assert.Equal(t, task.Created, r.stateOf(victim), "it is as it was")
	text, failed := tool(t, agent, "stop_task_kandev", map[string]any{"task": victim})
	assert.False(t, failed)
	assert.JSONEq(t, stopped, text, "from the agent itself it works")
}

// Health needs no token, everything else does.
func TestReadiness(t *testing.T) {
	r := begin(t, nil)
	get := func(path, secret string) int {
		req := httptest.NewRequest(http.MethodGet, r.URL()+path, nil)
		req.RequestURI = ""
		if secret != "" {
			req.Header.Set("Authorization", "Bearer "+secret)
		}
		answer, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	secret := r.token("desk", all)
	assert.Equal(t, http.StatusOK, get("readyz", ""))
	assert.Equal(t, http.StatusUnauthorized, get("api/actions", ""))
	assert.Equal(t, http.StatusOK, get("api/actions", secret))
	r.ready.asked, r.ready.err = r.ready.asked.AddDate(-1, 0, 0), nil
	require.NoError(t, r.state.Close())
	assert.Equal(t, http.StatusServiceUnavailable, get("readyz", ""), "the store does not answer")
	assert.Equal(t, http.StatusOK, get("healthz", ""))
}
