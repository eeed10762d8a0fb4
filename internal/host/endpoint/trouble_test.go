package endpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/upstream"
)

func TestAnOldServerServesEveryAgent(t *testing.T) {
	for _, agent := range agentKinds {
		old := &oldServer{}
		b, _ := before(t, old)
		s := b.session(t)
		cs := b.connect(t, s, "127.0.0.1", agent[0], agent[1])
		assert.Nil(t, cs.InitializeResult().Capabilities.Resources, "what it has not is not offered")
		r, err := call(t.Context(), cs, "old_tool", nil, nil)
		require.NoError(t, err)
		assert.Equal(t, "ran old_tool", text(t, r))
		_, err = cs.ListPrompts(t.Context(), nil)
		var wire *jsonrpc.Error
		require.ErrorAs(t, err, &wire)
		assert.Equal(t, "-32601 no such method", fmt.Sprint(wire.Code, " ", wire.Message))
		a := b.raw(t, s, http.MethodPost, b.url("127.0.0.1", "/mcp"), listTools, nil)
		assert.Contains(t, a.body, `"properties":{"z":{},"a":{"maximum":9223372036854775807}}},"own":1}`)
		assert.Equal(t, 1, strings.Count(old.methods(), "initialize tools/call prompts/list"))
	}
}

// mcpError is the error that a raw request was answered with.
func (b bench) mcpError(t *testing.T, s *Session, body string) string {
	t.Helper()
	a := b.raw(t, s, http.MethodPost, b.url("127.0.0.1", "/mcp"), body, nil)
	require.Equal(t, http.StatusOK, a.status, a.body)
	_, data, _ := strings.Cut(a.body, "data: ")
	var m struct {
		Error *struct {
			Code    int
			Message string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(data), &m), a.body)
	if m.Error == nil {
		return ""
	}
	return fmt.Sprint(m.Error.Code, " ", m.Error.Message)
}

const callTool = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"old_tool","arguments":{"k":"5ecret"}}}`

// trouble is an odd answer, and what the agent is told of it.
type trouble struct {
	answer func(http.ResponseWriter)
	want   string
}

func troubles() map[string]trouble {
	status := func(code int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { w.WriteHeader(code); _, _ = io.WriteString(w, "5ecret") }
	}
	text := func(kind, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { w.Header().Set("Content-Type", kind); _, _ = io.WriteString(w, body) }
	}
	const odd = "cannot be understood: it broke off, or sent something that is not MCP"
	return map[string]trouble{
		"unauthorized": {status(401), "refused the request with HTTP status 401: it may want a header with a key"},
		"broken":       {status(500), "answered with HTTP status 500"},
		"busy":         {status(503), "answered with HTTP status 503"},
		"no JSON":      {text("application/json", "5ecret{"), odd},
		"a page":       {text("text/html", "<5ecret>"), odd},
		"an empty one": {text("application/json", ""), odd},
		"no stream":    {text("text/event-stream", "data: 5ecret\n\n"), odd},
		"an open end":  {text("text/event-stream", ": 5ecret\n\n"), odd},
		"hangs up":     {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, "has closed the connection"},
		"breaks off": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "1000")
			text("application/json", `{"5ecret`)(w)
		}, odd},
		"redirects off": {func(w http.ResponseWriter) { w.Header().Set("Location", "/again"); w.WriteHeader(307) }, "redirects too often"},
		"another id":    {text("application/json", `{"jsonrpc":"2.0","id":77,"result":{"k":"5ecret"}}`), "answered with an id that is not the request's"},
		"a request":     {text("application/json", `{"jsonrpc":"2.0","id":2,"method":"5ecret"}`), "answered with an id that is not the request's"},
		"no object":     {text("application/json", `{"jsonrpc":"2.0","id":2,"result":["5ecret"]}`), "sent a result that is no object"},
	}
}

// What is wrong with a target is said, the next call tries again, and the arrival
// counts all the same.
func TestATargetInTrouble(t *testing.T) {
	for name, row := range troubles() {
		for _, method := range []string{"initialize", "tools/call"} {
			if name == "no object" && method == "initialize" {
				continue // it has another id there
			}
			t.Run(name+" at "+method, func(t *testing.T) {
				var fine atomic.Bool
				old := &oldServer{serve: func(w http.ResponseWriter, r *http.Request, m string) bool {
					if fine.Load() || m != method && r.URL.Path != "/again" {
						return false
					}
					row.answer(w)
					return true
				}}
				b, _ := before(t, old)
				s := b.session(t)
				assert.Equal(t, "-32603 The MCP server mine behind this endpoint "+row.want+". The next call tries again.", b.mcpError(t, s, callTool))
				_, arrivals := b.seen.of(s.ID())
				assert.Len(t, arrivals, 1)
				assert.Equal(t, 1, strings.Count(b.logs.String(), "the target of an MCP endpoint failed"), "one record")
				assert.Contains(t, b.logs.String(), "server=mine ")
				assert.NotContains(t, b.logs.String(), "5ecret")
				fine.Store(true)
				assert.Empty(t, b.mcpError(t, s, callTool))
			})
		}
	}
}

// A target that has forgotten the session gets a new one, and the call once more.
func TestATargetThatRestarts(t *testing.T) {
	for _, agent := range agentKinds {
		var handler atomic.Value
		tg := newTarget()
		fresh := func() {
			handler.Store(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tg.Server }, nil))
		}
		fresh()
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			handler.Load().(http.Handler).ServeHTTP(w, r)
		}))
		t.Cleanup(func() {
			for ss := range tg.Sessions() {
				_ = ss.Close()
			}
			server.CloseClientConnections()
			server.Close()
		})
		b := front(t, upstream.Target{URL: server.URL})
		s := b.session(t)
		cs := b.connect(t, s, "127.0.0.1", agent[0], agent[1])
		for range 3 {
			_, err := call(t.Context(), cs, "echo", nil, nil)
			require.NoError(t, err)
			fresh()
		}
		_, arrivals := b.seen.of(s.ID())
		assert.Len(t, arrivals, 3, "one for each call of the agent")
	}
}

func TestATargetThatDiesInTheMiddle(t *testing.T) {
	for _, kind := range []string{"stateful", "json", "sse"} {
		t.Run(kind, func(t *testing.T) {
			s := serveTarget(t, kind)
			b := front(t, s.at)
			cs := b.connect(t, b.session(t), "127.0.0.1", "/mcp", legacy)
			failed := make(chan error)
			go func() { _, err := call(t.Context(), cs, "wait", nil, nil); failed <- err }()
			<-s.started
			s.server.CloseClientConnections()
			require.ErrorContains(t, <-failed, "The MCP server mine behind this endpoint")
			if kind != "sse" { // there the connection was all there was
				<-s.ended // told that nobody waits for its answer
			}
			_, err := call(t.Context(), cs, "echo", nil, nil)
			require.NoError(t, err)
		})
	}
}

// A target that never answers holds up nobody but who waits for it.
func TestASilentTarget(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	b, _ := before(t, &oldServer{serve: func(_ http.ResponseWriter, r *http.Request, m string) bool {
		if m == "tools/call" {
			select {
			case <-release:
			case <-r.Context().Done():
			}
			return true
		}
		return false
	}})
	s := b.session(t)
	for _, agent := range agentKinds {
		cs := b.connect(t, s, "127.0.0.1", agent[0], agent[1])
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() { _, err := call(ctx, cs, "old_tool", nil, nil); failed <- err }()
		_, err := cs.ListTools(t.Context(), nil)
		require.NoError(t, err)
		cancel()
		require.ErrorIs(t, <-failed, context.Canceled)
	}
}

func TestAnAgentThatEndsItsSessionWithACallOpen(t *testing.T) {
	s := serveTarget(t, "stateful")
	b := front(t, s.at)
	session := b.session(t)
	cs := b.connect(t, session, "127.0.0.1", "/mcp", legacy)
	failed := make(chan error)
	go func() { _, err := call(t.Context(), cs, "wait", nil, nil); failed <- err }()
	<-s.started
	a := b.raw(t, session, http.MethodDelete, b.url("127.0.0.1", "/mcp"), "", func(r *http.Request) { r.Header.Set(sessionHeader, cs.ID()) })
	assert.Equal(t, http.StatusNoContent, a.status)
	<-s.ended
	require.Error(t, <-failed)
}

func TestMCPSessionsAreBounded(t *testing.T) {
	s := serveTarget(t, "stateful")
	b := front(t, s.at)
	session := b.session(t)
	first := b.connect(t, session, "127.0.0.1", "/mcp", legacy)
	second := b.connect(t, session, "127.0.0.1", "/mcp", legacy)
	_, err := call(t.Context(), first, "echo", nil, nil)
	require.NoError(t, err)
	for range maxMCPSessions - 1 {
		_, err := call(t.Context(), b.connect(t, session, "127.0.0.1", "/mcp", legacy), "echo", nil, nil)
		require.NoError(t, err)
	}
	_, err = call(t.Context(), first, "echo", nil, nil)
	require.NoError(t, err, "it was used later than the second")
	_, err = call(t.Context(), second, "echo", nil, nil)
	require.Error(t, err)
	session.mu.Lock()
	defer session.mu.Unlock()
	assert.Len(t, session.links, maxMCPSessions)
}
