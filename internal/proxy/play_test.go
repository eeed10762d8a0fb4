package proxy

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/upstream"
	"github.com/kandev/assent/internal/testlog"
	"github.com/kandev/assent/pipeline/acp"
)

// The options of an ordinary offer.
const threeOptions = `[{"optionId":"once","name":"Yes","kind":"allow_once"},{"optionId":"always","name":"Always","kind":"allow_always"},{"optionId":"no","name":"No","kind":"reject_once"}]`

// offerLine is an offer of a session with an ordinary list of options. The name is
// the tool's, empty for a call without one.
func offerLine(id, session, name string) string {
	if name != "" {
		name = `"name":"` + name + `",`
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"session/request_permission","params":{"sessionId":"` + session + `","toolCall":{"toolCallId":"call-` +
		strings.Trim(id, `"`) + `",` + name + `"title":"t","kind":"other"},"options":` + threeOptions + "}}\n"
}

// Answers to offers, as the client gives them and as we do.
func selectedLine(id, option string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"outcome":{"outcome":"selected","optionId":"` + option + `"}}}` + "\n"
}

func cancelledLine(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"outcome":{"outcome":"cancelled"}}}` + "\n"
}

func resultLine(id, result string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + "}\n"
}

func requestLine(id, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + "}\n"
}

func notificationLine(method, params string) string {
	return `{"jsonrpc":"2.0","method":"` + method + `","params":` + params + "}\n"
}

func cancelOf(session string) string {
	return notificationLine("session/cancel", `{"sessionId":"`+session+`"}`)
}

// entry is one element of mcpServers, as an agent reads it.
type entry struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	URL     string `json:"url"`
	Headers []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"headers"`
}

// secret is the session's own, with the scheme.
func (e entry) secret() string {
	if len(e.Headers) != 1 || e.Headers[0].Name != "Authorization" {
		return ""
	}
	return e.Headers[0].Value
}

// serversOf reads the mcpServers of a session request, strictly.
func serversOf(t testing.TB, line string) (list []entry) {
	t.Helper()
	var m struct {
		Params struct {
			Servers []jsontext.Value `json:"mcpServers"`
		} `json:"params"`
	}
	require.NoError(t, json.Unmarshal([]byte(line), &m), line)
	for _, v := range m.Params.Servers {
		var e entry
		_ = json.Unmarshal(v, &e) // what is no entry has no name
		list = append(list, e)
	}
	return list
}

// named are the entries of one name.
func named(list []entry, name string) (found []entry) {
	for _, e := range list {
		if e.Name == name {
			found = append(found, e)
		}
	}
	return found
}

// open makes a session, and gives the entries that the agent got.
func (w *wire) open(session string) []entry {
	w.t.Helper()
	w.syncs++
	id := fmt.Sprintf(`"open-%d"`, w.syncs)
	list := serversOf(w.t, w.clientSays(requestLine(id, "session/new", `{"cwd":"/w","mcpServers":[]}`)))
	answer := resultLine(id, `{"sessionId":"`+session+`"}`)
	require.Equal(w.t, answer, w.agentSays(answer))
	return list
}

// target is the MCP server of a user, served over streamable HTTP.
type target struct {
	upstream.Target
	calls testlog.Buffer // a line per call: the tool's name
	hits  testlog.Buffer // a line per request
}

// serveTarget serves tools with the given names until the test ends.
func serveTarget(t testing.TB, tools ...string) *target {
	tg := &target{}
	server := mcp.NewServer(&mcp.Implementation{Name: "users-own", Version: "1"}, nil)
	for _, name := range tools {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object"}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				_, _ = fmt.Fprintln(&tg.calls, name)
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "the target's answer"}}}, nil
			})
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintln(&tg.hits, r.Method)
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		for each := range server.Sessions() {
			_ = each.Close()
		}
		s.CloseClientConnections()
		s.Close()
	})
	tg.URL = s.URL + "/mcp"
	return tg
}

// asAgent sends a secret with every request, as agents do.
type asAgent struct {
	authorization string
	next          http.RoundTripper
}

func (a asAgent) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if a.authorization != "" {
		r.Header.Set("Authorization", a.authorization)
	}
	return a.next.RoundTrip(r)
}

// connect speaks MCP to the server of an entry, with its secret.
func connect(t testing.TB, e entry) *mcp.ClientSession {
	t.Helper()
	transport := &http.Transport{}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	cs, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: e.URL, HTTPClient: &http.Client{Transport: asAgent{e.secret(), transport}}, MaxRetries: -1, DisableStandaloneSSE: true,
	}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = cs.Close(); transport.CloseIdleConnections() })
	return cs
}

// listTools asks the server of an entry for its tools, as agents do.
func listTools(t testing.TB, e entry) (names []string) {
	t.Helper()
	list, err := connect(t, e).ListTools(t.Context(), nil)
	require.NoError(t, err)
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// injectingTarget injects a server that is really there.
func injectingTarget(name string, tg *target) func(*Options, *wire) {
	return func(o *Options, _ *wire) { o.Inject = append(o.Inject, Injection{Name: name, Target: tg.Target}) }
}

func explaining(o *Options, _ *wire) { o.Explain = true }

// logging keeps the log.
func logging(b *testlog.Buffer) func(*Options, *wire) {
	return func(o *Options, _ *wire) { o.Logger = b.Logger() }
}

// asks says that the client is asked with the agent's own line, and nothing goes to
// the agent.
func (w *wire) asks(line string) {
	w.t.Helper()
	require.Equal(w.t, line, w.agentSays(line))
	require.Empty(w.t, w.agent.read())
}

// answers says that an offer is answered here.
func (w *wire) answers(line, answer string) {
	w.t.Helper()
	require.Empty(w.t, w.agentSays(line))
	require.Equal(w.t, answer, w.agent.until(answer[len(answer)-2:]))
}

// idOf is the id of a line.
func idOf(t testing.TB, line string) string {
	t.Helper()
	f, err := acp.Peek([]byte(line))
	require.NoError(t, err)
	return f.ID.String()
}

// statusOf asks an endpoint for its tools with a secret, and gives the HTTP status.
func statusOf(t testing.TB, url, authorization string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	res, err := asAgent{authorization, transport}.RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}

// callOf is a tools/call as Claude sends it, with the id of the call in ACP.
func callOf(tool, call string) *mcp.CallToolParams {
	return &mcp.CallToolParams{Name: tool, Meta: mcp.Meta{"claudecode/toolUseId": call}, Arguments: map[string]any{}}
}

// endOf is the update that ends a call.
func endOf(session, call string) string {
	return notificationLine("session/update", `{"sessionId":"`+session+`","update":{"sessionUpdate":"tool_call_update","toolCallId":"`+call+`","status":"completed"}}`)
}

// listening is how many of the loopback addresses something listens on at a port.
func listening(port int) (count int) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		c, err := net.DialTimeout("tcp", net.JoinHostPort(host, strconv.Itoa(port)), 5*time.Second)
		if err == nil {
			_ = c.Close()
			count++
		}
	}
	return count
}
