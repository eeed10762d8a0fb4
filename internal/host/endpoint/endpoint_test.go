package endpoint

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	newest = "2026-07-28" // clients begin with server/discover
	legacy = "2025-06-18" // clients begin with initialize
)

func TestG14_TheAgentsOwnCallWorks(t *testing.T) {
	for _, host := range hosts() {
		for _, path := range []string{"/mcp", "/sse"} {
			for _, version := range []string{newest, legacy} {
				t.Run(host+path+" "+version, func(t *testing.T) {
					tasks := NewTaskList()
					b := open(t, Options{Tools: TaskTools(tasks)})
					s := b.session(t)
					cs := b.connect(t, s, host, path, version)
					list, err := cs.ListTools(t.Context(), nil)
					require.NoError(t, err)
					require.Len(t, list.Tools, 2)

					r, err := call(t.Context(), cs, "create_task_kandev", map[string]any{"title": "Write"}, mcp.Meta{"claudecode/toolUseId": "toolu_1"})
					require.NoError(t, err)
					assert.JSONEq(t, `{"id":"task-1"}`, text(t, r))
					r, err = call(t.Context(), cs, "list_tasks_kandev", nil, mcp.Meta{"callId": "call_1"})
					require.NoError(t, err)
					assert.JSONEq(t, `{"tasks":[{"id":"task-1","title":"Write"}]}`, text(t, r))
					assert.Equal(t, []Task{{ID: "task-1", Title: "Write"}}, tasks.Tasks())

					tools, arrivals := b.seen.of(s.ID())
					assert.Equal(t, []string{"create_task_kandev", "list_tasks_kandev"}, tools)
					assert.Equal(t, []Arrival{
						{Tool: "create_task_kandev", ToolUseID: "toolu_1"},
						{Tool: "list_tasks_kandev", CallID: "call_1"},
					}, arrivals)
				})
			}
		}
	}
}

// Newer clients never send initialize.
func TestClientsThatNeverInitialize(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	b := open(t, Options{Version: "1.2.3"})
	for _, host := range hosts() {
		s := b.session(t)
		post := func(method, params, version string) answer {
			return b.raw(t, s, http.MethodPost, b.url(host, "/mcp"), `{"jsonrpc":"2.0","id":0,"method":"`+method+`","params":{`+params+`}}`, func(r *http.Request) {
				if version != "" {
					r.Header.Set("Mcp-Protocol-Version", version)
					r.Header.Set("Mcp-Method", method)
				}
			})
		}
		a := post("server/discover", meta, newest)
		require.Equal(t, http.StatusOK, a.status, a.body)
		assert.Contains(t, a.body, `"supportedVersions"`)
		assert.Contains(t, a.body, `"version":"1.2.3"`)
		assert.Empty(t, a.header.Get("Mcp-Session-Id"))
		tools, _ := b.seen.of(s.ID())
		assert.Empty(t, tools, "nothing was listed so far")

		a = post("tools/list", meta, newest)
		require.Equal(t, http.StatusOK, a.status, a.body)
		assert.Contains(t, a.body, `"create_task_kandev"`)
		tools, _ = b.seen.of(s.ID())
		assert.Len(t, tools, 2)

		// Older clients that do not initialize either.
		a = post("tools/list", "", "")
		require.Equal(t, http.StatusOK, a.status, a.body)
		assert.Contains(t, a.body, `"list_tasks_kandev"`)
	}
}

func TestArrivalsAreToldWhateverBecomesOfThem(t *testing.T) {
	b := open(t, Options{})
	s := b.session(t)
	cs := b.connect(t, s, "127.0.0.1", "/mcp", newest)
	long := strings.Repeat("x", maxArrivalText+1)
	_, err := call(t.Context(), cs, "no_such_tool", nil, nil)
	require.Error(t, err)
	r, err := call(t.Context(), cs, "create_task_kandev", map[string]any{"title": 7}, mcp.Meta{"claudecode/toolUseId": 7, "callId": long})
	require.NoError(t, err)
	assert.True(t, r.IsError)
	_, arrivals := b.seen.of(s.ID())
	assert.Equal(t, []Arrival{{Tool: "no_such_tool"}, {Tool: "create_task_kandev", Unmatchable: true}}, arrivals, "ids that are no string or too long match nothing")
}

func TestNoObserverAndNoLoggerIsFine(t *testing.T) {
	e, err := Open(t.Context(), Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	b := bench{Endpoint: e}
	s := b.session(t)
	assert.Equal(t, http.StatusOK, b.raw(t, s, http.MethodPost, b.url("127.0.0.1", "/mcp"), listTools, nil).status)
	assert.Equal(t, http.StatusUnauthorized, b.raw(t, nil, http.MethodPost, b.url("127.0.0.1", "/mcp"), listTools, nil).status)
}

type empty struct{}

// blocking is a tool that runs until its context ends.
func blocking(started chan<- bool) Tool {
	return NewTool(&mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ empty) (*mcp.CallToolResult, empty, error) {
		started <- true
		<-ctx.Done()
		return nil, empty{}, ctx.Err()
	})
}

func TestCloseEndsStreamsAndRunningTools(t *testing.T) {
	for _, path := range []string{"/mcp", "/sse"} {
		started := make(chan bool)
		b := open(t, Options{Tools: []Tool{blocking(started)}})
		s := b.session(t)
		cs := b.connect(t, s, "127.0.0.1", path, legacy)
		failed := make(chan bool)
		go func() { // the tool can still answer that it was ended
			r, err := call(context.Background(), cs, "wait", nil, nil)
			failed <- err != nil || r.IsError
		}()
		<-started
		require.NoError(t, b.Close())
		require.True(t, <-failed)
		require.NoError(t, b.Close(), "closing twice")
		_, err := b.NewSession()
		require.ErrorIs(t, err, ErrClosed)
		_, err = http.Get(b.url("127.0.0.1", "/mcp"))
		require.Error(t, err, "the port is free")
	}
}

func TestAPanickingToolHarmsNobodyElse(t *testing.T) {
	bad := NewTool(&mcp.Tool{Name: "bad"}, func(context.Context, *mcp.CallToolRequest, empty) (*mcp.CallToolResult, empty, error) {
		panic("5ecret")
	})
	b := open(t, Options{Tools: append(TaskTools(NewTaskList()), bad)})
	for _, path := range []string{"/mcp", "/sse"} {
		cs := b.connect(t, b.session(t), "127.0.0.1", path, legacy)
		_, err := call(t.Context(), cs, "bad", nil, nil)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "5ecret")
		_, err = call(t.Context(), cs, "list_tasks_kandev", nil, nil)
		require.NoError(t, err)
	}
	assert.Contains(t, b.logs.String(), "panicked")
	assert.NotContains(t, b.logs.String(), "5ecret")
}

func TestToolsAreWrittenForAModel(t *testing.T) {
	b := open(t, Options{})
	cs := b.connect(t, b.session(t), "127.0.0.1", "/mcp", newest)
	list, err := cs.ListTools(t.Context(), nil)
	require.NoError(t, err)
	create, all := list.Tools[0], list.Tools[1]
	assert.False(t, create.Annotations.ReadOnlyHint)
	assert.False(t, *create.Annotations.DestructiveHint)
	assert.True(t, all.Annotations.ReadOnlyHint)
	schema, err := json.Marshal(create.InputSchema)
	require.NoError(t, err)
	assert.JSONEq(t, `{"type":"object","required":["title"],"additionalProperties":false,"properties":{
		"title":{"type":"string","description":"what to do, in one line of at most 200 characters"},
		"description":{"type":"string","description":"details such as context, steps or how to know that it is done, at most 2000 characters"}}}`, string(schema))
}

func TestBadOptionsAreRefused(t *testing.T) {
	tool := func(name string) Tool {
		return NewTool(&mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, empty) (*mcp.CallToolResult, empty, error) {
			return nil, empty{}, nil
		})
	}
	noSchema := NewTool(&mcp.Tool{Name: "f"}, func(context.Context, *mcp.CallToolRequest, struct{ F func() }) (*mcp.CallToolResult, empty, error) {
		return nil, empty{}, nil
	})
	rows := []struct {
		opts Options
		want string
	}{
		{Options{Port: -1}, "endpoint: port -1: use 1 to 65535, or 0 for any"},
		{Options{Port: 65536}, "endpoint: port 65536: use"},
		{Options{Tools: []Tool{{}}}, "endpoint: tool number 1 is empty: make it with NewTool"},
		{Options{Tools: []Tool{tool("a"), NewTool[empty, empty](nil, nil)}}, "endpoint: tool number 2 is empty"},
		{Options{Tools: []Tool{tool("a"), tool("a")}}, `endpoint: tool "a" is there twice`},
		{Options{Tools: []Tool{tool("a__b")}}, `endpoint: tool "a__b": name_with_second_separator: use 1 to 128`},
		{Options{Tools: []Tool{tool("a b")}}, `endpoint: tool "a b": name_with_foreign_bytes`},
		{Options{Tools: []Tool{noSchema}}, `endpoint: tool "f": its types make no schema that MCP allows`},
	}
	for _, r := range rows {
		_, err := Open(t.Context(), r.opts)
		require.ErrorContains(t, err, r.want)
	}
}
