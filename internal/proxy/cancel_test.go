package proxy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/testlog"
)

// (f) session/cancel answers the open offers of its session at once, behind the
// line itself, and no others; late answers of the client reach nobody.
func TestCancelAnswersTheOpenOffersOfItsSession(t *testing.T) {
	w := newWire(t)
	for id, session := range map[string]string{"1": "a", "2": "a", `"2"`: "b", "4": "b"} {
		w.asks(offerLine(id, session, "Bash"))
	}
	got := w.clientSays(cancelOf("a"))
	require.True(t, strings.HasPrefix(got, cancelOf("a")), "the agent learns first why")
	assert.Equal(t, sorted(cancelledLine("1")+cancelledLine("2")), sorted(strings.TrimPrefix(got, cancelOf("a"))))
	assert.Equal(t, cancelOf("a"), w.clientSays(cancelOf("a")), "nothing is open any more")

	assert.Empty(t, w.clientSays(selectedLine("1", "once")), "a late answer")
	assert.Empty(t, w.clientSays(cancelledLine("2")))
	assert.Equal(t, selectedLine(`"2"`, "once"), w.clientSays(selectedLine(`"2"`, "once")))
	assert.Equal(t, cancelledLine("4"), w.clientSays(cancelledLine("4")))
	assert.Empty(t, w.client.read(), "the client is told nothing")
}

// While the client owes an answer, a new offer with that id is cancelled; once it
// was given the id is free.
func TestAnIDWhoseAnswerIsOwed(t *testing.T) {
	for name, change := range map[string]func(*Options, *wire){"asking": explaining, "blanket": func(o *Options, w *wire) { approving(o, w); explaining(o, w) }} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, change)
			// With blanket approval only an unreadable offer is open at the client.
			asked := strings.Replace(offerLine("1", "s", "Bash"), `"title":"t"`, `"kind":"x"`, 1)
			if name == "asking" {
				asked = offerLine("1", "s", "Bash")
			}
			w.asks(asked)
			if name == "blanket" { // it has no session that could be cancelled
				assert.Equal(t, cancelOf("s"), w.clientSays(cancelOf("s")))
				w.answers(offerLine("1", "s", "Bash"), cancelledLine("1"))
				assert.Contains(t, w.stderr.read(), "request_id_in_use")
				assert.Equal(t, selectedLine("1", "no"), w.clientSays(selectedLine("1", "no")))
				w.answers(offerLine("1", "s", "Bash"), selectedLine("1", "once"))
				return
			}
			w.clientSays(cancelOf("s"))
			w.answers(offerLine("1", "s", "Bash"), cancelledLine("1"))
			w.answers(offerLine("1", "t", "Bash"), cancelledLine("1"))
			assert.Equal(t, 2, strings.Count(w.stderr.read(), "cancelled, stage manager, reason request_id_in_use"))
			w.asks(offerLine(`"1"`, "s", "Bash")) // another id
			assert.Empty(t, w.clientSays(selectedLine("1", "once")))
			w.asks(offerLine("1", "s", "Bash"))
			assert.Equal(t, selectedLine("1", "once"), w.clientSays(selectedLine("1", "once")))
		})
	}
}

// A new offer with the id of an open one is cancelled, and the open one stays the
// client's.
func TestAnIDThatIsOpen(t *testing.T) {
	w := newWire(t)
	w.asks(offerLine("1", "s", "Bash"))
	w.answers(offerLine("1", "s", "Bash"), cancelledLine("1"))
	assert.Equal(t, selectedLine("1", "once"), w.clientSays(selectedLine("1", "once")))

	w.asks(requestLine("2", "fs/read_text_file", `{"path":"/x"}`))
	w.answers(offerLine("2", "s", "Bash"), cancelledLine("2"))
	assert.Equal(t, resultLine("2", `{"content":""}`), w.clientSays(resultLine("2", `{"content":""}`)))
	w.asks(offerLine("2", "s", "Bash"))
}

// Other requests of the agent work with such ids as with any other one.
func TestOtherRequestsWithAnOwedID(t *testing.T) {
	w := newWire(t)
	w.asks(offerLine("1", "s", "Bash"))
	w.clientSays(cancelOf("s"))
	read := requestLine("1", "fs/read_text_file", `{"path":"/x"}`)
	w.asks(read)
	assert.Empty(t, w.clientSays(selectedLine("1", "once")), "the late answer is not taken for that of the other request")
	content := resultLine("1", `{"content":"x"}`)
	assert.Equal(t, content, w.clientSays(content))

	w.asks(offerLine("1", "s", "Bash"))
	w.clientSays(cancelOf("s"))
	w.asks(read)
	failed := `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no such file"}}` + "\n"
	assert.Equal(t, failed, w.clientSays(failed))
	assert.Empty(t, w.clientSays(cancelledLine("1")), "and the late answer may come behind it")
}

// While a cancelled turn has not ended nothing is approved automatically in its
// session; in others, and in the next turn, it is.
func TestNothingIsApprovedInACancelledTurn(t *testing.T) {
	w := newWire(t, approving, explaining)
	prompt := func(id, session string) string {
		return requestLine(id, "session/prompt", `{"sessionId":"`+session+`","prompt":[]}`)
	}
	w.clientSays(prompt("1", "a") + prompt("2", "b"))
	w.answers(offerLine("1", "a", "Bash"), selectedLine("1", "once"))
	w.clientSays(cancelOf("a"))
	w.asks(offerLine("2", "a", "Bash"))
	assert.Contains(t, w.stderr.read(), "session_cancelled")
	w.answers(offerLine("3", "b", "Bash"), selectedLine("3", "once"))
	assert.Equal(t, cancelledLine("2"), w.clientSays(cancelledLine("2")))
	w.agentSays(resultLine("1", `{"stopReason":"cancelled"}`))
	w.answers(offerLine("4", "a", "Bash"), selectedLine("4", "once"))
	w.clientSays(prompt("5", "a"))
	w.answers(offerLine("5", "a", "Bash"), selectedLine("5", "once"))
}

// modesV1 is the answer to a session request of an agent that begins in a mode.
func modesV1(session, current string, available ...string) string {
	list := make([]string, len(available))
	for n, id := range available {
		list[n] = `{"id":"` + id + `","name":"N"}`
	}
	return `{"sessionId":"` + session + `","modes":{"currentModeId":"` + current + `","availableModes":[` + strings.Join(list, ",") + `]}}`
}

func modesV2(session, current string, available ...string) string {
	list := make([]string, len(available))
	for n, id := range available {
		list[n] = `{"value":"` + id + `","name":"N"}`
	}
	return `{"sessionId":"` + session + `","configOptions":[{"id":"model","category":"model","currentValue":"auto","options":[{"value":"default"}]},` +
		`{"id":"m","category":"mode","type":"select","currentValue":"` + current + `","options":[` + strings.Join(list, ",") + `]}]}`
}

// (g) An agent that begins a session in its quiet mode is told to ask, with an id
// of our own, before any later line of the client; its answer is nobody else's.
func TestQuietAgentsAreToldToAsk(t *testing.T) {
	for _, agent := range []string{"claude-acp", "qwen-acp"} {
		for name, c := range map[string]struct{ answer, params string }{
			"v1": {modesV1("s", "auto", "auto", "default", "plan"), `"method":"session/set_mode","params":{"modeId":"default","sessionId":"s"}}`},
			"v2": {modesV2("s", "auto", "auto", "default"), `"method":"session/set_config_option","params":{"configId":"m","sessionId":"s","type":"id","value":"default"}}`},
		} {
			t.Run(agent+" "+name, func(t *testing.T) {
				w := newWire(t, agentID(agent), injecting("kandev"))
				w.clientSays(requestLine("1", "session/new", `{"mcpServers":[]}`))
				assert.Equal(t, resultLine("1", c.answer), w.agentSays(resultLine("1", c.answer)))
				prompt := requestLine("2", "session/prompt", `{"sessionId":"s","prompt":[]}`)
				own, later, _ := strings.Cut(w.clientSays(prompt), "\n")
				assert.Equal(t, prompt, later)
				id := idOf(t, own)
				assert.Equal(t, `{"jsonrpc":"2.0","id":`+id+`,`+c.params, own)
				assert.True(t, strings.HasPrefix(id, `"assent-`), id)
				assert.Equal(t, 1, strings.Count(w.stderr.read(), "the agent begins in a mode that does not ask"))

				assert.Empty(t, w.agentSays(resultLine(id, `{}`)), "the answer is ours")
				assert.Empty(t, w.stderr.read())
				again := resultLine(id, `{}`)
				assert.Equal(t, again, w.agentSays(again), "a second one is not")
			})
		}
	}
}

// So is one in whose session nothing is injected: everything in it is asked about.
func TestQuietAgentsWithoutAServerAreToldToo(t *testing.T) {
	answer := resultLine("1", modesV1("s", "auto", "auto", "default"))
	for name, c := range map[string]struct {
		change func(*Options, *wire)
		params string
	}{
		"nothing to inject":      {explaining, `{"mcpServers":[]}`},
		"what cannot be changed": {injecting("kandev"), `{"mcpServers":[],"mcpServers":[]}`},
		"an agent without http":  {injecting("kandev"), `{"mcpServers":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, agentID("claude-acp"), c.change)
			if name == "an agent without http" {
				w.clientSays(requestLine("0", "initialize", "{}"))
				w.agentSays(resultLine("0", `{"protocolVersion":1}`))
			}
			line := requestLine("1", "session/new", c.params)
			assert.Equal(t, line, w.clientSays(line))
			assert.Equal(t, answer, w.agentSays(answer))
			assert.Contains(t, w.clientSays("\n"), `"method":"session/set_mode","params":{"modeId":"default","sessionId":"s"}}`)
		})
	}
	w := newWire(t, agentID("claude-acp"))
	w.clientSays(notificationLine("session/new", `{"mcpServers":[]}`))
	assert.Equal(t, answer, w.agentSays(answer))
	assert.Equal(t, "\n", w.clientSays("\n"), "an answer to nothing")
}

// An agent that begins in any other mode, that lacks the asking one, or that needs
// no such request, is told nothing; nor is one whose session request failed.
func TestOthersAreNotToldToAsk(t *testing.T) {
	for name, c := range map[string]struct{ agent, answer string }{
		"v1 asks already":   {"claude-acp", modesV1("s", "default", "auto", "default")},
		"v1 user's choice":  {"claude-acp", modesV1("s", "bypassPermissions", "auto", "default", "bypassPermissions")},
		"v1 no such mode":   {"claude-acp", modesV1("s", "auto", "auto", "plan")},
		"v2 asks already":   {"qwen-acp", modesV2("s", "default", "auto", "default")},
		"v2 no such mode":   {"qwen-acp", modesV2("s", "auto", "auto")},
		"no modes":          {"claude-acp", `{"sessionId":"s"}`},
		"odd modes":         {"claude-acp", `{"sessionId":"s","modes":[]}`},
		"another agent":     {"opencode-acp", modesV1("s", "auto", "auto", "default")},
		"an unknown agent":  {"", modesV1("s", "auto", "auto", "default")},
		"no session in it":  {"claude-acp", `{"modes":{"currentModeId":"auto","availableModes":[{"id":"default"}]}}`},
		"another method":    {"claude-acp", modesV1("s", "auto", "auto", "default")},
		"no text in the id": {"claude-acp", strings.Replace(modesV1("s", "auto", "auto", "default"), `"s"`, `"\ud800"`, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			log := &testlog.Buffer{}
			w := newWire(t, agentID(c.agent), injecting("kandev"), logging(log))
			method := "session/new"
			if name == "another method" {
				method = "session/list"
			}
			w.clientSays(requestLine("1", method, `{"mcpServers":[]}`))
			assert.Equal(t, resultLine("1", c.answer), w.agentSays(resultLine("1", c.answer)))
			prompt := requestLine("2", "session/prompt", `{"sessionId":"s","prompt":[]}`)
			assert.Equal(t, prompt, w.clientSays(prompt))
			assert.Zero(t, log.Count("does not ask"))
		})
	}
	w := newWire(t, agentID("claude-acp"), injecting("kandev"))
	w.clientSays(requestLine("1", "session/new", `{"mcpServers":[]}`))
	w.agentSays(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no","data":` + modesV1("s", "auto", "auto", "default") + "}}\n")
	assert.Equal(t, "\n", w.clientSays("\n"))
}
