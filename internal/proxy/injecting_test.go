package proxy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sessionMethods are the requests that carry a list of servers.
var sessionMethods = []string{"session/new", "session/load", "session/resume", "session/fork"}

// (a) Every session request gets the injected entry behind the client's own, with a
// secret of its own, and nothing else in it changes.
func TestSessionRequestsGetTheServer(t *testing.T) {
	w := newWire(t, injecting("kandev"))
	secrets := map[string]bool{}
	for n, method := range sessionMethods {
		for m, params := range []string{
			`{"sessionId":"s","cwd":"/w","mcpServers":[%s]}`,
			`{"cwd":"/w","mcpServers":[{"name":"docs","command":"docs","args":[],"env":[]}%s],"sessionId":"s","_meta":{"x":1.50}}`,
			`{"cwd":"/w","mcp\u0053ervers": [{"n\u0061me":"d"}%s] ,"sessionId":"s"}`,
			`{"sessionId":"s","cwd":"/w"%s}`,
			`{"sessionId":"s","mcpServers":%s,"cwd":"/w"}`,
		} {
			id := fmt.Sprint(10*n + m)
			said := strings.NewReplacer(`:%s`, ":null", `%s`, "").Replace(params)
			got := w.clientSays(requestLine(id, method, said))
			own := named(serversOf(t, got), "kandev")
			require.Len(t, own, 1, got)
			assert.Equal(t, "http", own[0].Type)
			assert.Equal(t, fmt.Sprintf("http://localhost:%d/mcp", w.relay.gate.injections[0].config.Port), own[0].URL)
			assert.True(t, strings.HasPrefix(own[0].secret(), "Bearer "), got)
			assert.False(t, secrets[own[0].secret()], "each session request has a secret of its own")
			secrets[own[0].secret()] = true
			assert.Equal(t, requestLine(id, method, fmt.Sprintf(params, entryText(got, params))), got)
		}
	}
	assert.Empty(t, w.stderr.read())
}

// entryText is what has to stand in the place of %s in the params of a line.
func entryText(line, params string) string {
	at := strings.Index(line, `{"name":"kandev"`)
	entry := line[at:]
	entry = entry[:strings.Index(entry, "}]}")+len("}]}")]
	switch {
	case strings.Contains(params, `:%s`):
		return "[" + entry + "]"
	case strings.Contains(params, `"%s`):
		return `,"mcpServers":[` + entry + "]"
	case strings.Contains(params, `}%s`):
		return "," + entry
	}
	return entry
}

// The same fields in other messages are nobody's list, and without --inject no list
// is changed.
func TestOtherListsStayUntouched(t *testing.T) {
	for _, w := range []*wire{newWire(t, injecting("kandev")), newWire(t)} {
		for _, line := range []string{
			requestLine("1", "session/prompt", `{"sessionId":"s","mcpServers":[{"name":"kandev"}]}`),
			requestLine("2", "session/list", `{"mcpServers":[]}`),
			requestLine("3", "_vendor/session/new", `{"mcpServers":[]}`),
			notificationLine("session/close", `{"sessionId":"s","mcpServers":null}`),
		} {
			assert.Equal(t, line, w.clientSays(line))
		}
	}
	w := newWire(t)
	for n, method := range sessionMethods {
		line := requestLine(fmt.Sprint(n), method, `{"sessionId":"s","cwd":"/w","mcpServers":[{"name":"kandev"}]}`)
		assert.Equal(t, line, w.clientSays(line))
	}
}

// An entry with an injected name gives way, also one that only agents give that
// name; the warning is said once.
func TestReservedNamesGiveWay(t *testing.T) {
	w := newWire(t, injecting("kan-dev"))
	for n, name := range []string{"kan-dev", `kan\u002ddev`, "kan-dev"} {
		got := w.clientSays(requestLine(fmt.Sprint(n), "session/new", `{"mcpServers":[{"name":"a"},{"name":"`+name+`","url":"http://evil/"},{"name":"kan_dev"}]}`))
		list := serversOf(t, got)
		require.Len(t, list, 3)
		assert.Equal(t, []string{"a", "kan_dev", "kan-dev"}, []string{list[0].Name, list[1].Name, list[2].Name})
		assert.NotContains(t, got, "evil")
	}
	assert.Equal(t, "assent: proxy: warning: the client lists an MCP server named ‹kan-dev›: the injected one takes its place\n", w.stderr.read())

	w = newWire(t, injecting("kan_dev"))
	got := w.clientSays(requestLine("1", "session/new", `{"mcpServers":[{"name":"kan dev"},{"name":"kan.dev"},{"name":"Kan_dev"}]}`))
	assert.Len(t, serversOf(t, got), 2, "an agent that replaces characters would confuse them")
	assert.Equal(t, 2, strings.Count(w.stderr.read(), "takes its place"), "two names, two warnings")
	w.clientSays(requestLine("2", "session/new", `{"mcpServers":[{"name":"kan\u001bdev"}]}`))
	assert.Contains(t, w.stderr.read(), "named ‹kan\\x1bdev›", "nothing of it reaches a terminal as it is")
}

// A session request that cannot be changed in exactly one way goes to the agent as
// it is, without a secret, and stderr says so. Its session is asked about.
func TestWhatCannotBeInjectedStaysAsItIs(t *testing.T) {
	tg := serveTarget(t, "run")
	for name, c := range map[string]struct{ line, why string }{
		"twice":               {requestLine("1", "session/new", `{"mcpServers":[],"mcpServers":[]}`), "in more than one way"},
		"twice, one escaped":  {requestLine("1", "session/new", `{"mcpServers":[],"mcpServer\u0073":[{"name":"kandev"}]}`), "in more than one way"},
		"method twice":        {`{"id":1,"method":"session/new","method":"session/new","params":{"mcpServers":[]}}` + "\n", "in more than one way"},
		"no list":             {requestLine("1", "session/new", `{"mcpServers":{"kandev":{}}}`), "is no list"},
		"no params":           {`{"jsonrpc":"2.0","id":1,"method":"session/new"}` + "\n", "no params object"},
		"no id":               {notificationLine("session/new", `{"mcpServers":[]}`), "could not be told apart"},
		"null id":             {requestLine("null", "session/new", `{"mcpServers":[]}`), "could not be told apart"},
		"load of no session":  {requestLine("1", "session/load", `{"mcpServers":[]}`), "could not be told apart"},
		"load of two":         {requestLine("1", "session/load", `{"sessionId":"s","sessionId":"t","mcpServers":[]}`), "in more than one way"},
		"bad text":            {requestLine("1", "session/new", "{\"cwd\":\"\xff\",\"mcpServers\":[]}"), "in more than one way"},
		"half of a character": {requestLine("1", "session/new", `{"cwd":"\ud800","mcpServers":[]}`), "in more than one way"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, injectingTarget("kandev", tg))
			assert.Equal(t, c.line, w.clientSays(c.line))
			said := w.stderr.read()
			assert.Contains(t, said, "gets no injected server: ")
			assert.Contains(t, said, c.why)
			w.agentSays(resultLine("1", `{"sessionId":"s"}`))
			w.asks(offerLine("1", "s", "mcp__kandev__run"))

			listTools(t, w.open("u")[0])
			w.answers(offerLine("2", "u", "mcp__kandev__run"), selectedLine("2", "once"))
		})
	}
}

// A second request with an id that is in use cannot be followed; its twin with
// another id can.
func TestAnIDInUse(t *testing.T) {
	w := newWire(t, injecting("kandev"))
	line := requestLine("1", "session/new", `{"mcpServers":[]}`)
	assert.Len(t, serversOf(t, w.clientSays(line)), 1)
	assert.Equal(t, line, w.clientSays(line))
	assert.Contains(t, w.stderr.read(), "could not be told apart")
	assert.Len(t, serversOf(t, w.clientSays(strings.Replace(line, `"id":1`, `"id":"1"`, 1))), 1)
	w.agentSays(resultLine("1", `{"sessionId":"s"}`))
	assert.Len(t, serversOf(t, w.clientSays(line)), 1, "an answered one is out of use")
}

// What the agent says it takes decides which entry it gets; one that takes no
// server over HTTP gets none, said once.
func TestWhatTheAgentTakes(t *testing.T) {
	for name, c := range map[string]struct{ said, gets string }{
		"said nothing":       {``, "http"},
		"v1 http":            {`{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true,"sse":true}}}`, "http"},
		"v1 sse":             {`{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":false,"sse":true}}}`, "sse"},
		"v1 neither":         {`{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{}}}`, ""},
		"v1 nothing said":    {`{"protocolVersion":1,"agentCapabilities":{}}`, ""},
		"v2 http":            {`{"protocolVersion":2,"capabilities":{"session":{"mcp":{"http":{}}}}}`, "http"},
		"v2 sse":             {`{"protocolVersion":2,"capabilities":{"session":{"mcp":{"sse":{}}}}}`, "sse"},
		"v2 neither":         {`{"protocolVersion":2,"capabilities":{"session":{"mcp":{"http":null}}}}`, ""},
		"v2 with old fields": {`{"protocolVersion":2,"agentCapabilities":{"mcpCapabilities":{"http":true}},"capabilities":{"session":{}}}`, ""},
		"odd":                {`{"protocolVersion":"1"}`, "http"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, injecting("kandev"))
			if c.said != "" {
				hello := requestLine("0", "initialize", `{"protocolVersion":2}`)
				assert.Equal(t, hello, w.clientSays(hello))
				assert.Equal(t, resultLine("0", c.said), w.agentSays(resultLine("0", c.said)))
			}
			for _, id := range []string{"1", "2"} {
				line := requestLine(id, "session/new", `{"mcpServers":[]}`)
				got := w.clientSays(line)
				if c.gets == "" {
					assert.Equal(t, line, got)
					continue
				}
				own := serversOf(t, got)
				require.Len(t, own, 1)
				assert.Equal(t, c.gets, own[0].Type)
				assert.True(t, strings.HasSuffix(own[0].URL, map[string]string{"http": "/mcp", "sse": "/sse"}[c.gets]))
			}
			if said := w.stderr.read(); c.gets == "" {
				assert.Equal(t, 1, strings.Count(said, "warning: "), said)
				assert.Contains(t, said, "takes neither http nor sse")
			} else {
				assert.Empty(t, said)
			}
		})
	}
}

// A load or resume that the agent refuses leaves the session with the secret that
// it had; one that succeeds ends that one.
func TestWhoseSecretCounts(t *testing.T) {
	tg := serveTarget(t, "run")
	for name, refused := range map[string]bool{"refused": true, "granted": false} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, injectingTarget("kandev", tg))
			first := w.open("s")[0]
			listTools(t, first)
			w.answers(offerLine("1", "s", "mcp__kandev__run"), selectedLine("1", "once"))
			second := serversOf(t, w.clientSays(requestLine("9", "session/load", `{"sessionId":"s","mcpServers":[]}`)))[0]
			w.asks(offerLine("2", "s", "mcp__kandev__run")) // until it is known which list holds
			if refused {
				w.agentSays(`{"jsonrpc":"2.0","id":9,"error":{"code":-32002,"message":"no"}}` + "\n")
				assert.Equal(t, 401, statusOf(t, second.URL, second.secret()))
				w.answers(offerLine("3", "s", "mcp__kandev__run"), selectedLine("3", "once"))
				return
			}
			w.agentSays(resultLine("9", `{}`))
			assert.Equal(t, 401, statusOf(t, first.URL, first.secret()))
			w.asks(offerLine("3", "s", "mcp__kandev__run")) // it has not listed with its new secret
			listTools(t, second)
			w.answers(offerLine("4", "s", "mcp__kandev__run"), selectedLine("4", "once"))
		})
	}
}
