package proxy

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/audit"
)

// A line of the client that can be read as an answer and as a request is both to
// whoever decides: its servers are never trusted.
func TestARequestThatLooksLikeAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		end  string
		asks bool
	}{
		"an answer":            {`"result":{}}`, false},
		"with error null":      {`"method":"session/load","params":{"sessionId":"s","mcpServers":[{"name":"kandev","type":"http","url":"http://evil.example/mcp","headers":[]}]},"error":null}`, true},
		"with a result":        {`"method":"session/load","params":{"sessionId":"s","mcpServers":[{"name":"kandev","type":"http","url":"http://evil.example/mcp","headers":[]}]},"result":{}}`, true},
		"two sessions and one": {`"method":"x","params":{"sessionId":"s","sessionId":"t"},"error":{}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, injectingTarget("kandev", serveTarget(t, "run")))
			listTools(t, w.open("s")[0])
			w.answers(offerLine("1", "s", "mcp__kandev__run"), selectedLine("1", "once"))
			line := `{"jsonrpc":"2.0","id":9,` + c.end + "\n"
			assert.Equal(t, line, w.clientSays(line))
			if c.asks {
				w.asks(offerLine("2", "s", "mcp__kandev__run"))
			} else {
				w.answers(offerLine("2", "s", "mcp__kandev__run"), selectedLine("2", "once"))
			}
		})
	}
}

// An offer that cannot be read is asked about, and so it stands in the records: with
// the client's answer, and without being told as a call that nobody was asked about.
func TestAnUnreadableOfferIsAsked(t *testing.T) {
	path := t.TempDir() + "/audit.jsonl"
	log, err := audit.Open(path, audit.Options{})
	require.NoError(t, err)
	w := newWire(t, explaining, func(o *Options, _ *wire) { o.Audit = log })
	offer := strings.Replace(offerLine("1", "s", "Bash"), `"toolCallId"`, `"title":"a","title":"b","toolCallId"`, 1)
	assert.Equal(t, offer, w.agentSays(offer))
	assert.Contains(t, w.stderr.read(), "offer 1: asked, stage acp, reason unreadable_offer")
	assert.Equal(t, selectedLine("1", "once"), w.clientSays(selectedLine("1", "once")))
	w.agentSays(endOf("s", "call-1"))
	w.asks(strings.Replace(offer, `"id":1`, `"id":2`, 1))
	w.answers(offerLine("2", "s", "Bash"), cancelledLine("2")) // its id is in use
	require.NoError(t, log.Close(t.Context()))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"verdict":"pend"`)
	assert.Contains(t, string(text), `"event":"answer"`)
	assert.NotContains(t, string(text), `"event":"unasked"`)
}

// An agent that refuses to be told to ask is reported.
func TestAModeThatIsRefused(t *testing.T) {
	w := newWire(t, agentID("claude-acp"))
	w.clientSays(requestLine("1", "session/new", `{"mcpServers":[]}`))
	w.agentSays(resultLine("1", modesV1("s", "auto", "auto", "default")))
	own, _, _ := strings.Cut(w.clientSays(""), "\n")
	w.stderr.read()
	assert.Empty(t, w.agentSays(`{"jsonrpc":"2.0","id":`+idOf(t, own)+`,"error":{"code":-32603,"message":"no"}}`+"\n"))
	assert.Contains(t, w.stderr.read(), "the agent refused to be set to a mode in which it asks")
}

// Of a flag that is not in its form nothing is quoted: any part can be a secret.
func TestFlagsThatAreNotInTheirForm(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	for _, flags := range [][2]string{
		{"https://user:s3cr3t@host/mcp?token=1", ""},
		{"https://host/mcp?s3cr3t", ""},
		{"kandev=http://user:s3cr3t@host/mcp", ""},
		{"kandev=http://h/mcp", "Authorization:Bearer s3cr3t=k:v"},
		{"kandev=http://h/mcp", "Authorization:Bearer s3cr3t"},
		{"kandev=http://h/mcp", "kandev=Authorization s3cr3t"},
		{"kandev=http://h/mcp", "kandev=X:s3cr3t\x00"},
	} {
		var headers []string
		if flags[1] != "" {
			headers = []string{flags[1]}
		}
		_, _, err := ParseInjections([]string{flags[0]}, headers, none)
		require.Error(t, err, flags)
		assert.NotContains(t, err.Error(), "s3cr3t")
		assert.NotContains(t, err.Error(), "token")
	}
}

// A session that was closed has no standing at the injected server any more.
func TestAClosedSession(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		asks   bool
	}{
		"closed":  {`"result":{}`, true},
		"refused": {`"error":{"code":-32601,"message":"no"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			tg := serveTarget(t, "run")
			w := newWire(t, injectingTarget("kandev", tg))
			e := w.open("s")[0]
			listTools(t, e)
			w.answers(offerLine("1", "s", "mcp__kandev__run"), selectedLine("1", "once"))
			w.clientSays(requestLine("9", "session/close", `{"sessionId":"s"}`))
			w.agentSays(`{"jsonrpc":"2.0","id":9,` + c.answer + "}\n")
			if c.asks {
				w.asks(offerLine("2", "s", "mcp__kandev__run"))
			} else {
				w.answers(offerLine("2", "s", "mcp__kandev__run"), selectedLine("2", "once"))
			}
		})
	}
}

// What the agent sends as an answer and the client can take for a request gets the
// client's answer back.
func TestAnAnswerThatLooksLikeARequest(t *testing.T) {
	w := newWire(t, approving)
	line := strings.Replace(offerLine("1", "s", "Bash"), `"method"`, `"error":null,"method"`, 1)
	assert.Equal(t, line, w.agentSays(line), "it is no offer, and is answered by nobody here")
	assert.Equal(t, selectedLine("1", "once"), w.clientSays(selectedLine("1", "once")))
	assert.Empty(t, w.clientSays(selectedLine("1", "once")), "once")
}
