package endpoint

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/upstream"
)

// The key goes to the target alone: not to agents, logs, or where it redirects to.
func TestTheTargetsHeadersStayHere(t *testing.T) {
	elsewhere := &oldServer{serve: func(_ http.ResponseWriter, r *http.Request, _ string) bool {
		assert.Empty(t, r.Header.Get("X-Key"))
		assert.Empty(t, r.Header.Get("Authorization"))
		assert.NotContains(t, fmt.Sprint(r.Header), canaryHeader, "nor the target's URL")
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
	b := front(t, upstream.Target{URL: server.URL + "/?key=" + canaryHeader, Headers: http.Header{"x-key": {canaryHeader}, "authorization": {"Bearer " + canaryHeader}}})
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
	require.ErrorContains(t, openBeforeItself(t), "is an endpoint of this process", "its own port")
	_, err := Open(t.Context(), Options{Tools: TaskTools(NewTaskList()), Upstream: &Upstream{}})
	require.ErrorContains(t, err, "one or the other")
}

// openBeforeItself opens an endpoint whose target is the port that it gets. Now and
// then it gets another one: the system gives a port again that was used in this run.
func openBeforeItself(t *testing.T) error {
	t.Helper()
	for range 20 {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		require.NoError(t, err)
		port := l.Addr().(*net.TCPAddr).Port
		require.NoError(t, l.Close())
		e, err := Open(t.Context(), Options{Port: port, Upstream: &Upstream{Target: upstream.Target{URL: "http://localhost:" + strconv.Itoa(port)}}})
		if err != nil {
			return err
		}
		require.NotEqual(t, port, e.Port())
		require.NoError(t, e.Close())
	}
	return nil
}

// A port that an endpoint has left can be a target's: the system gives it again.
func TestATargetMayBeWhereAnEndpointWas(t *testing.T) {
	for range 20 { // another process can take the port
		was := open(t, Options{})
		require.NoError(t, was.Close())
		l, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(was.Port()))
		if err != nil {
			continue
		}
		server := &httptest.Server{Listener: l, Config: &http.Server{Handler: &oldServer{}}}
		server.Start()
		t.Cleanup(server.Close)
		b := front(t, upstream.Target{URL: server.URL})
		assert.Empty(t, b.mcpError(t, b.session(t), callTool))
		return
	}
	t.Fatal("the port was never free again")
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
