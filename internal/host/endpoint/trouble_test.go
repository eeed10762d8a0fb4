package endpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/upstream"
)

// oldServer is a target written by hand, as there are many: one answer in JSON for
// each POST, 405 for everything else, and no session.
type oldServer struct {
	mu    sync.Mutex
	seen  []string // methods
	serve func(w http.ResponseWriter, r *http.Request, method string) bool
}

func (o *oldServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Name string }
	}
	if json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	o.mu.Lock()
	o.seen = append(o.seen, m.Method)
	o.mu.Unlock()
	if o.serve != nil && o.serve(w, r, m.Method) {
		return
	}
	body := map[string]string{
		"initialize": `"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"0"}}`,
		"tools/list": `"result":{"tools":[{"name":"old_tool","inputSchema":{"type":"object","properties":{"z":{},"a":{"maximum":9223372036854775807}}},"own":1}]}`,
		"tools/call": `"result":{"content":[{"type":"text","text":"ran ` + m.Params.Name + `"}]}`,
	}[m.Method]
	if body == "" {
		body = `"error":{"code":-32601,"message":"no such method"}`
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, body)
}

func (o *oldServer) methods() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.seen, " ")
}

// before opens an endpoint before a handler.
func before(t *testing.T, h http.Handler) (bench, *httptest.Server) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return front(t, upstream.Target{URL: server.URL}), server
}

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

// What is wrong with a target is said, the next call tries again, and the arrival
// counts all the same.
func TestATargetInTrouble(t *testing.T) {
	status := func(code int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { w.WriteHeader(code); _, _ = io.WriteString(w, "5ecret") }
	}
	text := func(kind, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { w.Header().Set("Content-Type", kind); _, _ = io.WriteString(w, body) }
	}
	const odd = "cannot be understood: it broke off, or sent something that is not MCP"
	rows := map[string]struct {
		answer func(http.ResponseWriter)
		want   string
	}{
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
		"no object":     {text("application/json", `{"jsonrpc":"2.0","id":2,"result":["5ecret"]}`), "sent a result that is no object"},
	}
	for name, row := range rows {
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
				assert.Equal(t, "-32603 The MCP server behind this endpoint "+row.want+". The next call tries again.", b.mcpError(t, s, callTool))
				_, arrivals := b.seen.of(s.ID())
				assert.Len(t, arrivals, 1)
				assert.Equal(t, 1, strings.Count(b.logs.String(), "the target of an MCP endpoint failed"), "one record")
				assert.NotContains(t, b.logs.String(), "5ecret")
				fine.Store(true)
				assert.Empty(t, b.mcpError(t, s, callTool))
			})
		}
	}
}

func TestATargetThatIsDownAndComesUp(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	b := front(t, upstream.Target{URL: "http://" + address})
	s := b.session(t)
	assert.Contains(t, b.mcpError(t, s, callTool), "cannot be reached: the connection was refused (is it running?)")
	l, err = net.Listen("tcp4", address)
	if err != nil {
		t.Skip("another process took the port")
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: &oldServer{}}}
	server.Start()
	defer server.Close()
	assert.Empty(t, b.mcpError(t, s, callTool))
	cs := b.connect(t, s, "127.0.0.1", "/mcp", legacy)
	_, err = cs.ListTools(t.Context(), nil)
	require.NoError(t, err)
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
		s := serveTarget(t, kind)
		b := front(t, s.at)
		cs := b.connect(t, b.session(t), "127.0.0.1", "/mcp", legacy)
		failed := make(chan error)
		go func() { _, err := call(t.Context(), cs, "wait", nil, nil); failed <- err }()
		<-s.started
		s.server.CloseClientConnections()
		require.ErrorContains(t, <-failed, "The MCP server behind this endpoint", kind)
		_, err := call(t.Context(), cs, "echo", nil, nil)
		require.NoError(t, err, kind)
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

// The key goes to the target alone: not to agents, logs, or where it redirects to.
func TestTheTargetsHeadersStayHere(t *testing.T) {
	elsewhere := &oldServer{serve: func(_ http.ResponseWriter, r *http.Request, _ string) bool {
		assert.Empty(t, r.Header.Get("X-Key"))
		assert.Empty(t, r.Header.Get("Authorization"))
		return false
	}}
	other := httptest.NewServer(elsewhere)
	defer other.Close()
	var moved atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, canaryHeader, r.Header.Get("X-Key"))
		assert.Equal(t, "Bearer "+canaryHeader, r.Header.Get("Authorization"))
		moved.Add(1)
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	b := front(t, upstream.Target{URL: server.URL, Headers: http.Header{"x-key": {canaryHeader}, "authorization": {"Bearer " + canaryHeader}}})
	s := b.session(t)
	for _, body := range []string{callTool, listTools, `{"jsonrpc":"2.0","id":2,"method":"no/such"}`} {
		a := b.raw(t, s, http.MethodPost, b.url("127.0.0.1", "/mcp"), body, nil)
		assert.NotContains(t, fmt.Sprint(a), canaryHeader)
	}
	assert.NotZero(t, moved.Load())
	assert.Contains(t, elsewhere.methods(), "tools/call")
	assert.NotContains(t, b.logs.String(), canaryHeader)
}

// The agent's own headers, its secret above all, do not go to the target.
func TestTheAgentsHeadersStayHere(t *testing.T) {
	var all sync.Map
	b, _ := before(t, &oldServer{serve: func(_ http.ResponseWriter, r *http.Request, m string) bool {
		all.Store(m, fmt.Sprint(r.Header))
		return false
	}})
	s := b.session(t)
	a := b.raw(t, s, http.MethodPost, b.url("127.0.0.1", "/mcp"), callTool, func(r *http.Request) { r.Header.Set("X-Agent", "own") })
	require.Equal(t, http.StatusOK, a.status)
	sent, ok := all.Load("tools/call")
	require.True(t, ok)
	assert.NotContains(t, sent, s.secret)
	assert.NotContains(t, sent, "X-Agent")
}

func TestATargetMayNotBeAnEndpointOfThisRun(t *testing.T) {
	other := open(t, Options{})
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]", "0.0.0.0", "LOCALHOST."} {
		target, err := upstream.ParseTarget("http://" + host + ":" + strconv.Itoa(other.Port()) + "/mcp")
		require.NoError(t, err)
		_, err = Open(t.Context(), Options{Upstream: &Upstream{Target: target}})
		require.ErrorContains(t, err, "is an endpoint of this process", host)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())
	_, err = Open(t.Context(), Options{Port: port, Upstream: &Upstream{Target: upstream.Target{URL: "http://localhost:" + strconv.Itoa(port)}}})
	require.ErrorContains(t, err, "is an endpoint of this process", "its own port")
	_, err = Open(t.Context(), Options{Tools: TaskTools(NewTaskList()), Upstream: &Upstream{}})
	require.ErrorContains(t, err, "one or the other")
}

func TestFrontBoundsBodies(t *testing.T) {
	b, _ := before(t, &oldServer{})
	s := b.session(t)
	large := strings.Replace(callTool, "5ecret", strings.Repeat("x", 2*DefaultMaxBody), 1)
	assert.Empty(t, b.mcpError(t, s, large))
	small := open(t, Options{MaxBody: 1000, Upstream: b.opts.Upstream})
	assert.Equal(t, http.StatusRequestEntityTooLarge, small.raw(t, small.session(t), http.MethodPost, small.url("127.0.0.1", "/mcp"), large, nil).status)
	big := open(t, Options{MaxBody: 1000, Upstream: &Upstream{Target: serveTarget(t, "json").at}})
	answer := big.mcpError(t, big.session(t), strings.Replace(callTool, "old_tool", "big", 1))
	assert.Contains(t, answer, "sent more than is allowed")
}
