package demoagent

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolRun is one tools/call that really arrived.
type toolRun struct {
	Server, Tool, CallID, Text string
}

// runs collects them.
type runs struct {
	mu   sync.Mutex
	list []toolRun
}

func (r *runs) add(run toolRun) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, run)
}

func (r *runs) all() []toolRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

// tools are the names of what ran, in order.
func (r *runs) tools() []string {
	var names []string
	for _, run := range r.all() {
		names = append(names, run.Server+"/"+run.Tool)
	}
	return names
}

type titleInput struct {
	Title string `json:"title"`
}

type pingInput struct {
	Text  string `json:"text"`
	Times int    `json:"times"`
	Loud  bool   `json:"loud,omitempty"`
}

// newMCPServer makes a server. "kandev" has the task tools, another one has
// "a_wipe", which comes first, and "ping", which only reads.
func newMCPServer(name string, ran func(toolRun)) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, nil)
	note := func(r *mcp.CallToolRequest, said string) *mcp.CallToolResult {
		id, _ := r.Params.Meta["claudecode/toolUseId"].(string)
		ran(toolRun{Server: name, Tool: r.Params.Name, CallID: id, Text: said})
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name + " ran " + r.Params.Name}}}
	}
	create := func(_ context.Context, r *mcp.CallToolRequest, in titleInput) (*mcp.CallToolResult, any, error) {
		return note(r, in.Title), nil, nil
	}
	list := func(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		return note(r, ""), nil, nil
	}
	ping := func(_ context.Context, r *mcp.CallToolRequest, in pingInput) (*mcp.CallToolResult, any, error) {
		return note(r, in.Text), nil, nil
	}
	if name == "kandev" {
		mcp.AddTool(s, &mcp.Tool{Name: "create_task_kandev"}, create)
		mcp.AddTool(s, &mcp.Tool{Name: "list_tasks_kandev"}, list)
		return s
	}
	mcp.AddTool(s, &mcp.Tool{Name: "a_wipe"}, list)
	mcp.AddTool(s, &mcp.Tool{Name: "ping", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, ping)
	return s
}

// webServer is an MCP server on the loopback.
type webServer struct {
	*httptest.Server
	runs *runs

	mu       sync.Mutex
	requests []http.Header
}

func (s *webServer) headers() []http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// serveMCP starts a server of a kind ("http" or "sse") until the test ends.
func serveMCP(t *testing.T, kind string, server *mcp.Server, ran *runs) *webServer {
	t.Helper()
	get := func(*http.Request) *mcp.Server { return server }
	var handler http.Handler = mcp.NewStreamableHTTPHandler(get, nil)
	if kind == "sse" {
		handler = mcp.NewSSEHandler(get, nil)
	}
	s := &webServer{runs: ran}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Header.Clone())
		s.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		for session := range server.Sessions() {
			_ = session.Close()
		}
	})
	return s
}

// twoServers are kandev and another one, whose runs are collected together.
func twoServers(t *testing.T) (ran *runs, entries []object) {
	t.Helper()
	ran = &runs{}
	kandev := serveMCP(t, "http", newMCPServer("kandev", ran.add), ran)
	other := serveMCP(t, "http", newMCPServer("other", ran.add), ran)
	return ran, []object{entry("http", "kandev", kandev.URL), entry("http", "other", other.URL)}
}

// slowTool says that it was called and waits.
func slowTool(arrived chan<- toolRun, release <-chan struct{}) mcp.ToolHandlerFor[struct{}, any] {
	return func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		select {
		case arrived <- toolRun{Tool: r.Params.Name}:
		default:
		}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return &mcp.CallToolResult{}, nil, nil
	}
}

// hangingServer takes requests and never answers. It gives its URL.
func hangingServer(t *testing.T, reached chan<- struct{}) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		reached <- struct{}{}
		_, _ = io.Copy(io.Discard, r.Body) // else the end of the connection goes unnoticed
		<-r.Context().Done()
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}
