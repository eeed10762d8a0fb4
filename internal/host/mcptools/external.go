package mcptools

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/kandev/assent/internal/host/dispatch"
)

// External is the MCP server for other clients: streamable HTTP, and SSE where the
// path ends with "/sse". It has a server for each token, so that what was begun with
// one cannot be continued with another. Whoever serves it has checked Host, Origin
// and token, and bounded the body.
type External struct {
	// Dispatcher gets the calls, with the person of the token as their origin.
	Dispatcher *dispatch.Dispatcher
	// PersonOf says whose request it is; false is refused.
	PersonOf func(context.Context) (dispatch.Person, bool)
	// Version of the host, shown to clients.
	Version string

	mu      sync.Mutex
	servers map[string]*personal // by the token's name
}

// personal is the server of one token.
type personal struct {
	person          dispatch.Person
	streamable, sse http.Handler
	ctx             context.Context // ends with the token
	end             context.CancelFunc
}

// ServeHTTP serves one request.
func (e *External) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	person, ok := e.PersonOf(r.Context())
	if !ok {
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	p := e.of(person)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	if r = r.WithContext(ctx); strings.HasSuffix(r.URL.Path, "/sse") {
		p.sse.ServeHTTP(w, r)
		return
	}
	if r.Method == http.MethodGet {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "MCP clients send their requests here with POST; nothing is told unasked, so there is nothing to GET (an SSE client takes /mcp/sse)", http.StatusMethodNotAllowed)
		return
	}
	p.streamable.ServeHTTP(w, r)
}

// of finds or makes the server of a token. A token that was made anew under the same
// name has another server.
func (e *External) of(person dispatch.Person) *personal {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.servers[person.Name]
	if p != nil && slices.Equal(p.person.Scopes, person.Scopes) && slices.Equal(p.person.Tasks, person.Tasks) {
		return p
	}
	if p != nil {
		p.end()
	}
	p = &personal{person: person}
	p.ctx, p.end = context.WithCancel(context.Background())
	server := e.server(p.ctx, person)
	get := func(*http.Request) *mcp.Server { return server }
	p.streamable = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true, DisableLocalhostProtection: true})
	p.sse = mcp.NewSSEHandler(get, &mcp.SSEOptions{DisableLocalhostProtection: true})
	if e.servers == nil {
		e.servers = map[string]*personal{}
	}
	e.servers[person.Name] = p
	return p
}

// server makes the MCP server of a token: which tools it has is what the token may. Its
// calls end with the token's life: those of SSE do not end with the request that they
// came by.
func (e *External) server(life context.Context, person dispatch.Person) *mcp.Server {
	var list []tool
	for scope, tools := range map[dispatch.Scope][]tool{
		dispatch.ScopeOperate: tasks(true)[:1], dispatch.ScopeView: tasks(true)[1:], dispatch.ScopeAnswer: permissions(),
	} {
		if person.Scopes.Has(scope) {
			list = append(list, tools...)
		}
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "assent", Title: "Tasks of assent", Version: e.Version}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		// Which tools there are depends on the token.
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	})
	call := func(ctx context.Context, action string, payload jsontext.Value) (jsontext.Value, error) {
		if life.Err() != nil {
			return nil, errTokenGone
		}
		of, cancel := context.WithCancel(life) // it has ended when Drop returns, and not some time later
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		result, err := e.Dispatcher.Dispatch(of, dispatch.FromExternalMCP(person), action, payload)
		if err != nil {
			return nil, err
		}
		return dispatch.Encode(result)
	}
	for _, t := range list {
		server.AddTool(t.definition(), t.checked(call))
	}
	return server
}

// errTokenGone is for a call whose token was deleted after it came.
var errTokenGone = &dispatch.Error{Code: dispatch.CodeForbidden, Message: "the token is deleted"}

// Drop ends what is open of a token, which was deleted.
func (e *External) Drop(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.servers[name]; p != nil {
		p.end()
		delete(e.servers, name)
	}
}
