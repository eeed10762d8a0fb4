package endpoint

//lint:file-ignore SA1019 agents and servers go on using what MCP 2026-07-28 deprecates

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// agentKinds are the ways an agent speaks to the endpoint: path and version.
var agentKinds = [][2]string{{"/mcp", legacy}, {"/mcp", newest}, {"/sse", legacy}}

// everyPair runs a test for each kind of target and agent.
func everyPair(t *testing.T, kinds []string, test func(t *testing.T, s *served, b bench, session *Session, path, version string)) {
	for _, kind := range kinds {
		for _, agent := range agentKinds {
			t.Run(kind+agent[0]+" "+agent[1], func(t *testing.T) {
				s := serveTarget(t, kind)
				b := front(t, s.at)
				test(t, s, b, b.session(t), agent[0], agent[1])
				assert.Zero(t, s.foreign.Load(), "each request has the target's header")
				assert.NotContains(t, b.logs.String(), canaryHeader)
			})
		}
	}
}

func TestFrontServesWhatTheTargetOffers(t *testing.T) {
	everyPair(t, targetKinds, func(t *testing.T, _ *served, b bench, session *Session, path, version string) {
		cs := b.connect(t, session, "127.0.0.1", path, version)
		about := cs.InitializeResult()
		assert.Equal(t, "users-own", about.ServerInfo.Name)
		assert.Equal(t, "be nice", about.Instructions)
		assert.NotNil(t, about.Capabilities.Prompts)

		listsPages(t, b, session, cs)
		r, err := call(t.Context(), cs, "echo", json.RawMessage(`{"n":9007199254740993,"<":"&"}`), mcp.Meta{"claudecode/toolUseId": "toolu_1", "callId": "call_1", "x": "y"})
		require.NoError(t, err)
		var meta map[string]any
		require.NoError(t, json.Unmarshal([]byte(text(t, r)), &meta))
		assert.Equal(t, []any{"toolu_1", "call_1", "y"}, []any{meta["claudecode/toolUseId"], meta["callId"], meta["x"]})
		assert.Equal(t, "target", r.Meta["from"])
		_, arrivals := b.seen.of(session.ID())
		assert.Equal(t, []Arrival{{Tool: "echo", ToolUseID: "toolu_1", CallID: "call_1"}}, arrivals)

		r, err = call(t.Context(), cs, "kinds", nil, nil)
		require.NoError(t, err)
		want, _ := kinds(t.Context(), nil)
		assert.Equal(t, want.Content, r.Content)
		r, err = call(t.Context(), cs, "fails", nil, nil)
		require.NoError(t, err)
		assert.True(t, r.IsError)
		_, err = call(t.Context(), cs, "refuses", nil, nil)
		var wire *jsonrpc.Error
		require.ErrorAs(t, err, &wire)
		assert.Equal(t, "-32050 own 5ecret words", fmt.Sprint(wire.Code, " ", wire.Message))
		assert.JSONEq(t, `{"why":1}`, string(wire.Data))
		assert.NotContains(t, b.logs.String(), "5ecret")
		otherFeatures(t, cs)
	})
}

// listsPages reads the list page by page and looks at what the observer is told.
func listsPages(t *testing.T, b bench, session *Session, cs *mcp.ClientSession) {
	t.Helper()
	params := &mcp.ListToolsParams{}
	for _, told := range [][]string{toolsOfTarget[:3], toolsOfTarget[:6], toolsOfTarget} {
		page, err := cs.ListTools(t.Context(), params)
		require.NoError(t, err)
		assert.Len(t, page.Tools, 3)
		tools, _ := b.seen.of(session.ID())
		assert.ElementsMatch(t, told, tools)
		params.Cursor = page.NextCursor
	}
	assert.Empty(t, params.Cursor)
}

func otherFeatures(t *testing.T, cs *mcp.ClientSession) {
	t.Helper()
	resources, err := cs.ListResources(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, resources.Resources, 1)
	templates, err := cs.ListResourceTemplates(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, templates.ResourceTemplates, 1)
	for uri, want := range map[string]string{"test:r": "content", "test:other": "made"} {
		read, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		require.NoError(t, err)
		assert.Equal(t, want, read.Contents[0].Text)
	}
	prompts, err := cs.ListPrompts(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, prompts.Prompts, 1)
	prompt, err := cs.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "p", Arguments: map[string]string{"who": "you"}})
	require.NoError(t, err)
	assert.Equal(t, "hello you", prompt.Messages[0].Content.(*mcp.TextContent).Text)
	completed, err := cs.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "p"}, Argument: mcp.CompleteParamsArgument{Name: "who", Value: "a"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"a!"}, completed.Completion.Values)
	_, err = cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "nowhere"})
	require.Error(t, err)
}

// Numbers are not rounded and nothing is left out, as the raw answer shows.
func TestFrontHandsOnTheBytes(t *testing.T) {
	for _, kind := range targetKinds {
		t.Run(kind, func(t *testing.T) {
			s := serveTarget(t, kind)
			b := front(t, s.at)
			session := b.session(t)
			// It begins with a call: without initialize, and without a list.
			a := b.raw(t, session, http.MethodPost, b.url("localhost", "/mcp"),
				`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"n":9007199254740993,"f":1.50}}}`, nil)
			require.Equal(t, http.StatusOK, a.status, a.body)
			assert.Contains(t, a.body, `"n":9007199254740993`)
			assert.Contains(t, a.body, `"f":1.50`)
			assert.Empty(t, a.header.Get(sessionHeader))
			a = b.raw(t, session, http.MethodPost, b.url("localhost", "/mcp"), listTools, nil)
			require.Equal(t, http.StatusOK, a.status, a.body)
			assert.Contains(t, a.body, `"echo"`)
			tools, arrivals := b.seen.of(session.ID())
			assert.Len(t, tools, 3)
			assert.Equal(t, []Arrival{{Tool: "echo"}}, arrivals)
		})
	}
}

func TestFrontServesManyCallsAtOnce(t *testing.T) {
	everyPair(t, targetKinds, func(t *testing.T, _ *served, b bench, session *Session, path, version string) {
		cs := b.connect(t, session, "127.0.0.1", path, version)
		var group sync.WaitGroup
		failures := make(chan error, 20)
		for i := range 20 {
			group.Go(func() {
				r, err := call(t.Context(), cs, "echo", map[string]any{"n": i}, nil)
				if err == nil && r.StructuredContent.(map[string]any)["n"] != float64(i) {
					err = errors.New("another call's answer")
				}
				failures <- err
			})
		}
		group.Wait()
		for range 20 {
			require.NoError(t, <-failures)
		}
		_, arrivals := b.seen.of(session.ID())
		assert.Len(t, arrivals, 20)
	})
}

func TestFrontKeepsSessionsApart(t *testing.T) {
	for _, kind := range []string{"stateful", "sse", "stdio"} {
		for _, agent := range agentKinds {
			t.Run(kind+agent[0]+" "+agent[1], func(t *testing.T) {
				b := front(t, serveTarget(t, kind).at)
				one, two := b.session(t), b.session(t)
				first, second := b.connect(t, one, "127.0.0.1", agent[0], agent[1]), b.connect(t, two, "127.0.0.1", agent[0], agent[1])
				for _, want := range []string{"1", "2"} {
					for _, cs := range []*mcp.ClientSession{first, second} {
						r, err := call(t.Context(), cs, "remembers", nil, nil)
						require.NoError(t, err)
						assert.Equal(t, want, text(t, r))
					}
				}
				if id := first.ID(); id != "" { // not even with the id of the other's MCP session
					a := b.raw(t, two, http.MethodPost, b.url("127.0.0.1", "/mcp"), listTools, func(r *http.Request) { r.Header.Set(sessionHeader, id) })
					assert.Equal(t, http.StatusNotFound, a.status)
				}
			})
		}
	}
}

func TestFrontIsReachedWithASecretAlone(t *testing.T) {
	s := serveTarget(t, "stateful")
	b := front(t, s.at)
	mine := b.session(t)
	gone := b.session(t)
	b.Revoke(gone)
	for _, who := range []*Session{nil, gone} {
		for _, path := range []string{"/mcp", "/sse"} {
			for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
				assert.Equal(t, http.StatusUnauthorized, b.raw(t, who, method, b.url("127.0.0.1", path), listTools, nil).status)
			}
		}
	}
	assert.Zero(t, s.hits.Load(), "the target was never asked")
	assert.Equal(t, http.StatusOK, b.raw(t, mine, http.MethodPost, b.url("127.0.0.1", "/mcp"), listTools, nil).status)
	assert.NotZero(t, s.hits.Load())
	assert.Equal(t, http.StatusMethodNotAllowed, b.raw(t, mine, http.MethodGet, b.url("127.0.0.1", "/mcp"), "", nil).status)
}

func TestFrontHandsOnALargeResult(t *testing.T) {
	for i, kind := range []string{"stateful", "json", "stdio"} {
		agent := agentKinds[i]
		t.Run(kind+agent[0]+" "+agent[1], func(t *testing.T) {
			b := front(t, serveTarget(t, kind).at)
			r, err := call(t.Context(), b.connect(t, b.session(t), "127.0.0.1", agent[0], agent[1]), "big", nil, nil)
			require.NoError(t, err)
			assert.Len(t, text(t, r), 5<<20)
		})
	}
}
