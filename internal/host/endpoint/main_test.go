package endpoint

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kandev/assent/internal/testlog"
)

// net/http lets a connection that it closes early linger for half a second, so
// that the client can read the answer.
func TestMain(m *testing.M) {
	if os.Getenv(asTarget) != "" {
		runAsTarget()
		return
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// witness records what an [Observer] is told.
type witness struct {
	mu       sync.Mutex
	listed   map[SessionID][]string
	arrivals map[SessionID][]Arrival
}

func newWitness() *witness {
	return &witness{listed: map[SessionID][]string{}, arrivals: map[SessionID][]Arrival{}}
}

func (w *witness) Listed(s SessionID, tools []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listed[s] = tools
}

func (w *witness) Arrived(s SessionID, a Arrival) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.arrivals[s] = append(w.arrivals[s], a)
}

func (w *witness) of(s SessionID) ([]string, []Arrival) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.listed[s], slices.Clone(w.arrivals[s])
}

// bench is one endpoint with its witness and its logs.
type bench struct {
	*Endpoint
	seen *witness
	logs *testlog.Buffer
}

func open(t *testing.T, opts Options) bench {
	t.Helper()
	b := bench{seen: newWitness(), logs: &testlog.Buffer{}}
	opts.Observer = b.seen
	opts.Logger = b.logs.Logger()
	e, err := Open(t.Context(), opts)
	require.NoError(t, err)
	b.Endpoint = e
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return b
}

func (b bench) session(t *testing.T) *Session {
	t.Helper()
	s, err := b.NewSession()
	require.NoError(t, err)
	return s
}

// hosts are the loopback names of this machine.
func hosts() []string {
	names := []string{"localhost", "127.0.0.1"}
	if l, err := net.Listen("tcp6", "[::1]:0"); err == nil {
		_ = l.Close()
		names = append(names, "[::1]")
	}
	return names
}

func (b bench) url(host, path string) string {
	return "http://" + host + ":" + strconv.Itoa(b.Port()) + path
}

// asAgent sends the session's header with every request, as agents do.
type asAgent struct {
	authorization string
	next          http.RoundTripper
}

func (a asAgent) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", a.authorization)
	return a.next.RoundTrip(r)
}

func httpClient(t *testing.T, authorization string) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: asAgent{authorization, transport}}
}

// connect makes a client of the MCP SDK for one transport, "/mcp" or "/sse".
func (b bench) connect(t *testing.T, s *Session, host, path, version string) *mcp.ClientSession {
	t.Helper()
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: b.url(host, path), HTTPClient: httpClient(t, s.Authorization()), MaxRetries: -1}
	if path == "/sse" {
		transport = &mcp.SSEClientTransport{Endpoint: b.url(host, path), HTTPClient: httpClient(t, s.Authorization())}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	cs, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	t.Cleanup(func() { _ = cs.Close() })
	return cs
}

// answer is what a raw request got.
type answer struct {
	status int
	header http.Header
	body   string
}

// raw sends one request as it stands. A nil edit leaves the agent's own request.
func (b bench) raw(t *testing.T, s *Session, method, url, body string, edit func(*http.Request)) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if s != nil {
		req.Header.Set("Authorization", s.Authorization())
	}
	if edit != nil {
		edit(req)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return answer{res.StatusCode, res.Header, string(data)}
}

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// call is one tools/call of the SDK's client.
func call(ctx context.Context, cs *mcp.ClientSession, tool string, args any, meta mcp.Meta) (*mcp.CallToolResult, error) {
	return cs.CallTool(ctx, &mcp.CallToolParams{Meta: meta, Name: tool, Arguments: args})
}

func text(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	require.Len(t, r.Content, 1)
	return r.Content[0].(*mcp.TextContent).Text
}
