package demoagent

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The headers of an entry are on every request to its server, and appear in
// nothing that the agent says.
func TestHeadersAreSent(t *testing.T) {
	for _, kind := range []string{"http", "sse"} {
		t.Run(kind, func(t *testing.T) {
			ran := &runs{}
			server := serveMCP(t, kind, newMCPServer("kandev", ran.add), ran)
			c := start(t, Options{})
			c.open(entry(kind, "kandev", server.URL,
				nameValue{"Authorization", "Bearer canary"}, nameValue{"X-Twice", "a"}, nameValue{"X-Twice", "b"}))
			got := c.prompt("plan", always(selects("allow-once")))
			assert.Len(t, ran.all(), 2)
			require.NoError(t, c.end())

			seen := server.headers()
			require.GreaterOrEqual(t, len(seen), 4)
			for _, h := range seen {
				assert.Equal(t, []string{"Bearer canary"}, h.Values("Authorization"))
				assert.Equal(t, []string{"a", "b"}, h.Values("X-Twice"))
			}
			for _, f := range got.frames {
				assert.NotContains(t, f.line, "canary")
			}
			assert.NotContains(t, c.stderr.String(), "canary")
		})
	}
}

// A server cannot have the headers sent somewhere else.
func TestHeadersGoNowhereElse(t *testing.T) {
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		assert.Empty(t, r.Header.Get("Authorization"))
	}))
	defer thief.Close()
	for name, at := range map[string]struct {
		kind    string
		handler http.HandlerFunc
		problem string
	}{
		"redirect": {"http", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, thief.URL, http.StatusTemporaryRedirect)
		}, "does not answer as an MCP server does"},
		"sse endpoint elsewhere": {"sse", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("event: endpoint\ndata: " + thief.URL + "\n\n"))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "did not answer in time"},
		"refused": {"http", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
		}, "HTTP 401 Unauthorized"},
		"an error": {"http", func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			var request struct {
				ID jsontext.Value `json:"id"`
			}
			if json.Unmarshal(body, &request) != nil || request.ID == nil { // what ends the session, too
				w.WriteHeader(http.StatusNotFound)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"what is behind it cannot be started"}}`, request.ID)
		}, "it answers: what is behind it cannot be started"},
		"no answer": {"http", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, "did not answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(at.handler)
			defer server.Close()
			c := start(t, Options{connectTimeout: 200 * time.Millisecond})
			c.open(entry(at.kind, "kandev", server.URL+"/?key=canary", nameValue{"Authorization", "Bearer canary"}))
			got := c.prompt("plan", always(selects("allow-once")))
			assert.Empty(t, got.asked)
			assert.Contains(t, got.said, at.problem)
			assert.Contains(t, c.stderr.String(), at.problem)
			assert.NotContains(t, got.said+c.stderr.String(), "canary")
			require.NoError(t, c.end())
		})
	}
}

// stdioEntry starts this test binary as a server.
func stdioEntry(t *testing.T, name, mode string) object {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return object{"name": name, "command": self, "args": []string{}, "env": []nameValue{{modeVariable, mode}, {raceOptions, "atexit_sleep_ms=0"}}}
}

func TestStdioServers(t *testing.T) {
	c := start(t, Options{})
	c.open(stdioEntry(t, "stdio", "stdio-server"))
	got := c.prompt("other hello", always(selects("allow-once")))
	assert.Equal(t, []string{"mcp__stdio__ping"}, got.asked)
	assert.Equal(t, []string{"completed"}, got.ends)
	require.NoError(t, c.end())
}

func TestStdioServerThatSaysNothing(t *testing.T) {
	c := start(t, Options{connectTimeout: 100 * time.Millisecond})
	c.open(stdioEntry(t, "deaf", "deaf-server"))
	got := c.prompt("other", always(selects("allow-once")))
	assert.Contains(t, got.said, "did not answer in time")
	require.NoError(t, c.end())
}

// session/new can be withdrawn while a server keeps it waiting.
func TestWithdrawnSession(t *testing.T) {
	reached := make(chan struct{}, 9)
	server := hangingServer(t, reached)
	c := start(t, Options{})
	id := c.request("session/new", object{"cwd": t.TempDir(), "mcpServers": []object{entry("http", "kandev", server)}})
	<-reached
	c.sendf(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%s}}`, id)
	assert.Equal(t, -32800, errorCode(t, c.response(id)))
	require.NoError(t, c.end())
}

// The first of two entries with one name is used.
func TestOneNameTwice(t *testing.T) {
	ran := &runs{}
	first := serveMCP(t, "http", newMCPServer("kandev", ran.add), ran)
	second := serveMCP(t, "sse", newMCPServer("kandev", ran.add), ran)
	c := start(t, Options{})
	c.open(entry("http", "kandev", first.URL), entry("sse", "kandev", second.URL))
	c.prompt("plan", always(selects("allow-once")))
	assert.Len(t, ran.all(), 2)
	assert.Empty(t, second.headers())
	assert.Contains(t, c.stderr.String(), `"kandev" is listed twice`)
}

// A server that goes away makes the call fail, not the turn.
func TestServerGoesAway(t *testing.T) {
	for _, kind := range []string{"http", "sse"} {
		t.Run(kind, func(t *testing.T) {
			ran := &runs{}
			server := serveMCP(t, kind, newMCPServer("kandev", ran.add), ran)
			c := start(t, Options{})
			c.open(entry(kind, "kandev", server.URL))
			server.CloseClientConnections()
			require.NoError(t, server.Listener.Close())
			got := c.prompt("plan", always(selects("allow-once")))
			assert.Equal(t, []string{"failed", "failed"}, got.ends)
			assert.Equal(t, "end_turn", got.stop)
			assert.Empty(t, ran.all())
			require.NoError(t, c.end())
		})
	}
}

func TestArguments(t *testing.T) {
	schema := object{
		"required": []any{"a", "b", "c", "d", "e", "f", "g", "h", 1},
		"properties": object{
			"a": object{"type": "string"}, "b": object{"type": "integer"}, "c": object{"type": "boolean"},
			"d": object{"type": "array"}, "e": object{"type": "object"}, "f": object{"enum": []any{"x", "y"}},
			"g": object{"type": []any{"number", "null"}}, "z": object{"type": "string"},
		},
	}
	assert.Equal(t, object{
		"a": "hi", "b": 1, "c": false, "d": []any{}, "e": object{}, "f": "x", "g": 1, "h": "hi",
	}, arguments(schema, "hi"))
	assert.Equal(t, object{}, arguments(nil, "hi"))
	assert.Equal(t, object{"a": "hello from the demo agent"}, arguments(object{"required": []any{"a"}}, ""))
}

func TestClean(t *testing.T) {
	assert.Equal(t, "a\uFFFDb", clean("a\xffb"))
	assert.Len(t, clean(strings.Repeat("x", maxText+1)), maxText+len(" (cut)"))
}
