package proxy

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/testlog"
)

// (b) An offer that the pipeline selects is answered here, with the option it took;
// what pends is the client's to answer, whatever it answers.
func TestSelectedOffersAreAnsweredHere(t *testing.T) {
	tg := serveTarget(t, "run")
	w := newWire(t, injectingTarget("kandev", tg), explaining)
	e := w.open("s")
	require.Equal(t, []string{"run"}, listTools(t, e[0]))
	w.answers(offerLine("1", "s", "mcp__kandev__run"), selectedLine("1", "once"))
	assert.Empty(t, w.clientSays(selectedLine("1", "no")), "nobody asked the client")
	assert.Contains(t, w.stderr.read(), "offer 1: approved with allow_once, tool run of kandev, stage option, reason injected_mcp")

	for id, name := range map[string]string{"2": "mcp__kandev__other", "3": "mcp__docs__run", "4": "Bash", "5": ""} {
		w.asks(offerLine(id, "s", name))
		assert.Equal(t, selectedLine(id, "no"), w.clientSays(selectedLine(id, "no")))
	}
	assert.Equal(t, 4, strings.Count(w.stderr.read(), ": asked"))
}

// An agent's own request other than an offer is nothing to decide.
func TestOtherRequestsAreNotAnsweredHere(t *testing.T) {
	w := newWire(t, approving)
	for _, method := range []string{"fs/read_text_file", "terminal/create", "_vendor/ask", "session/request_permissions"} {
		line := requestLine("1", method, `{"sessionId":"s","options":`+threeOptions+`}`)
		assert.Equal(t, line, w.agentSays(line))
		answer := resultLine("1", `{"content":"x"}`)
		assert.Equal(t, answer, w.clientSays(answer))
	}
	w.answers(offerLine("1", "s", ""), selectedLine("1", "once"))
}

// (c) An empty offer is cancelled before anything is asked, with blanket approval
// too; one with a single option of whatever kind is not empty.
func TestEmptyOffersAreCancelled(t *testing.T) {
	for name, change := range map[string]func(*Options, *wire){"asking": explaining, "blanket": approving} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, change)
			empty := strings.Replace(offerLine("7", "s", "Bash"), threeOptions, "[]", 1)
			w.answers(empty, cancelledLine("7"))
			one := strings.Replace(offerLine("7", "s", "Bash"), threeOptions, `[{"optionId":"x","name":"X","kind":"odd"}]`, 1)
			if name == "blanket" {
				w.answers(one, selectedLine("7", "x"))
				return
			}
			w.asks(one)
			assert.Equal(t, selectedLine("7", "x"), w.clientSays(selectedLine("7", "x")))
		})
	}
}

const batchRefused = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batches are not supported: send one message per line"}}` + "\n"

// (d) A batch of either side is refused to its sender, and nothing in it is relayed
// or decided. A line that only begins like one is noise.
func TestBatchesAreRefused(t *testing.T) {
	log := &testlog.Buffer{}
	w := newWire(t, approving, logging(log))
	for _, batch := range []string{"[]\n", " [ {} ] \r\n", "[" + strings.TrimSpace(offerLine("1", "s", "Bash")) + "]\n"} {
		assert.Empty(t, w.agentSays(batch))
		assert.Equal(t, batchRefused, w.agent.until("}}\n"))
		assert.Empty(t, w.clientSays(batch))
		assert.Equal(t, batchRefused, w.client.until("}}\n"))
	}
	assert.Equal(t, 3, log.Count("the agent sent a JSON-RPC batch"))
	assert.Equal(t, 3, log.Count("the client sent a JSON-RPC batch"))

	assert.Empty(t, w.agentSays("[INFO] started\n"))
	assert.Equal(t, "[INFO] started\n", w.stderr.read())
	w.answers(offerLine("1", "s", "Bash"), selectedLine("1", "once"))
}

// (e) What the agent prints that is no message goes to stderr, byte for byte.
func TestNoiseGoesToStderr(t *testing.T) {
	w := newWire(t)
	for _, noise := range []string{
		"Starting agent...\n", "\x1b[2K\x1b[1G\n", "\x00\xff\xfe binary \x80\n", "{\"id\":1,\n", "\"text\"\n", "7\n", "windows\r\n", "\ufeff{}\n", strings.Repeat("x", 1<<20) + "\n",
	} {
		assert.Empty(t, w.agentSays(noise))
		assert.Equal(t, noise, w.stderr.read())
	}
	for _, kept := range []string{"\n", "  \r\n", "{}\n", `{"id":1}` + "\n", `{"jsonrpc":"2.0","method":"x","n":9007199254740993,"s":"\u0061"}` + "\n"} {
		assert.Equal(t, kept, w.agentSays(kept))
		assert.Empty(t, w.stderr.read())
	}
	assert.Empty(t, w.agent.read(), "nobody answers noise")
}

// Noise without a line end is still a line of its own on stderr, and a last message
// without one is a message.
func TestTheLastLineNeedsNoEnd(t *testing.T) {
	for _, c := range []struct{ says, client, stderr string }{
		{"cut noise", "", "cut noise\n"},
		{`{"jsonrpc":"2.0","method":"x"`, "", `{"jsonrpc":"2.0","method":"x"` + "\n"},
		{`{"jsonrpc":"2.0","method":"x"}`, `{"jsonrpc":"2.0","method":"x"}`, ""},
	} {
		w := newWire(t)
		_, err := w.agent.in.Write([]byte(c.says))
		require.NoError(t, err)
		require.NoError(t, w.agent.in.Close())
		w.agentGone.Wait()
		assert.Equal(t, c.client, w.client.read())
		assert.Equal(t, c.stderr, w.stderr.read())
	}
}

// A last line of the client without an end is relayed, and what we say behind it is
// a line of its own.
func TestOurOwnLineIsNotGluedToACutOne(t *testing.T) {
	w := newWire(t)
	w.asks(offerLine("5", "s", "Bash"))
	cut := strings.TrimSuffix(cancelOf("s"), "\n")
	_, err := w.client.in.Write([]byte(cut))
	require.NoError(t, err)
	require.NoError(t, w.client.in.Close())
	assert.Equal(t, cut+"\n"+cancelledLine("5"), w.agent.until("}}}\n"))

	w = newWire(t)
	_, err = w.client.in.Write([]byte(cut))
	require.NoError(t, err)
	require.NoError(t, w.client.in.Close())
	w.clientGone.Wait()
	assert.Equal(t, cut, w.agent.read(), "and without one the line stays as it is")

	w = newWire(t)
	_, err = w.agent.in.Write([]byte("{}"))
	require.NoError(t, err)
	require.NoError(t, w.agent.in.Close())
	w.agentGone.Wait()
	assert.Empty(t, w.clientSays("[]\n[]\n"))
	assert.Equal(t, "{}\n"+batchRefused+batchRefused, w.client.read())
}

// (h) A line beyond the cap is not relayed, in either direction, and stderr says so;
// one of exactly the cap is.
func TestLinesBeyondTheCap(t *testing.T) {
	const limit = 300
	w := newWire(t, func(o *Options, _ *wire) { o.MaxLine = limit })
	line := func(length int) string {
		const frame = `{"method":""}`
		return `{"method":"` + strings.Repeat("m", length-len(frame)) + `"}`
	}
	for from, says := range map[string]func(string) string{"agent": w.agentSays, "client": w.clientSays} {
		for _, length := range []int{limit + 1, 1 << 20} {
			assert.Empty(t, says(line(length)+"\n"))
			assert.Equal(t, "assent: proxy: a line of the "+from+" is longer than 300 bytes and was not relayed\n", w.stderr.read())
		}
		for _, good := range []string{line(limit) + "\n", line(limit) + "\r\n"} {
			assert.Equal(t, good, says(good))
			assert.Empty(t, w.stderr.read())
		}
	}
	for _, in := range []*side{w.agent, w.client} { // what came before such a line does not wait for what comes after it
		_, err := in.in.Write([]byte("{}\n" + line(limit+1) + "\n"))
		require.NoError(t, err)
	}
	assert.Equal(t, "{}\n", w.client.until("\n"))
	assert.Equal(t, "{}\n", w.agent.until("\n"))
}

// Ids are exact: each of these is one of its own, and answers have the id as it came.
func TestIDsOfEveryKind(t *testing.T) {
	ids := []string{`0`, `"0"`, `-1`, `1e3`, `1000`, `9007199254740993`, `9007199254740992`, `"a\"b"`, `"\u00fc"`, `""`}
	w := newWire(t)
	for _, id := range ids {
		w.asks(offerLine(id, "s", "Bash"))
	}
	for _, id := range slices.Backward(ids) {
		assert.Equal(t, selectedLine(id, "once"), w.clientSays(selectedLine(id, "once")))
	}
	blanket := newWire(t, approving)
	for _, id := range ids {
		blanket.answers(offerLine(id, "s", "Bash"), selectedLine(id, "once"))
	}
	for _, id := range []string{`null`, `{}`, `[1]`, `true`} { // JSON-RPC has no such ids: never selected
		blanket.asks(offerLine(id, "s", "Bash"))
		assert.Empty(t, blanket.clientSays(selectedLine(id, "once")))
	}
	notification := strings.Replace(offerLine(`1`, "s", "Bash"), `"id":1,`, "", 1)
	blanket.asks(notification)
}

// One id in two spellings is one id.
func TestAnswersInAnotherSpelling(t *testing.T) {
	w := newWire(t)
	w.asks(offerLine(`"a"`, "s", "Bash"))
	assert.Equal(t, selectedLine(`"\u0061"`, "once"), w.clientSays(selectedLine(`"\u0061"`, "once")))
	w.asks(offerLine(`"a"`, "s", "Bash"))
	assert.Empty(t, w.clientSays(selectedLine(`"A"`, "once")))
	assert.Equal(t, selectedLine(`"a"`, "once"), w.clientSays(selectedLine(`"a"`, "once")))
}

// Withdrawals pass in both directions.
func TestCancelRequestPasses(t *testing.T) {
	w := newWire(t)
	w.asks(offerLine("5", "s", "Bash"))
	withdrawn := notificationLine("$/cancel_request", `{"requestId":5}`)
	assert.Equal(t, withdrawn, w.agentSays(withdrawn))
	assert.Equal(t, withdrawn, w.clientSays(withdrawn))
	assert.Equal(t, cancelledLine("5"), w.clientSays(cancelledLine("5")), "the client answers what was withdrawn")
}

// An offer that can be read in more than one way goes to the client as it is, and
// its answer back: what the client makes of it is the client's.
func TestUnreadableOffersAreTheClients(t *testing.T) {
	w := newWire(t, approving, explaining)
	for _, unreadable := range []string{
		strings.Replace(offerLine("9", "s", "Bash"), `"title":"t"`, `"name":"other"`, 1),
		strings.Replace(offerLine("9", "s", "Bash"), `"title":"t"`, "\"title\":\"\xff\"", 1),
		strings.Replace(offerLine("9", "s", "Bash"), `"title":"t"`, `"title":"\ud800"`, 1),
		strings.Replace(offerLine("9", "s", "Bash"), `"options"`, `"choices"`, 1),
		strings.Replace(offerLine("9", "s", "Bash"), `"sessionId"`, `"session"`, 1),
	} {
		w.asks(unreadable)
		assert.Contains(t, w.stderr.read(), "asked, stage acp, reason unreadable_offer")
		assert.Equal(t, selectedLine("9", "once"), w.clientSays(selectedLine("9", "once")))
	}
	w.answers(offerLine("9", "s", "Bash"), selectedLine("9", "once"))
}

// One answer per offer: the second one reaches nobody.
func TestASecondAnswerIsDropped(t *testing.T) {
	log := &testlog.Buffer{}
	w := newWire(t, logging(log))
	w.asks(offerLine("3", "s", "Bash"))
	assert.Equal(t, selectedLine("3", "no"), w.clientSays(selectedLine("3", "no")))
	for _, again := range []string{selectedLine("3", "once"), selectedLine("3", "no"), cancelledLine("3")} {
		assert.Empty(t, w.clientSays(again))
	}
	assert.Equal(t, 3, log.Count("is for no open request"))
	w.asks(offerLine("3", "s", "Bash"))
	assert.Equal(t, selectedLine("3", "once"), w.clientSays(selectedLine("3", "once")), "and a new offer has an answer of its own")
}

// After a line of the client that is no message nothing is approved automatically,
// blanket approval included: nobody knows what the agent made of it.
func TestClientNoiseEndsAutomaticApproval(t *testing.T) {
	for _, noise := range []string{"hello\n", "{\"id\":1\n", "{}\n", "\x00\n"} {
		log := &testlog.Buffer{}
		w := newWire(t, approving, explaining, logging(log))
		assert.Equal(t, "\n", w.clientSays("\n"), "a blank line is nothing")
		w.answers(offerLine("1", "s", "Bash"), selectedLine("1", "once"))
		assert.Equal(t, noise, w.clientSays(noise), "it is the agent's to judge")
		w.asks(offerLine("2", "s", "Bash"))
		assert.Equal(t, selectedLine("2", "no"), w.clientSays(selectedLine("2", "no")))
		w.clientSays(noise)
		assert.Equal(t, 1, log.Count("nothing is approved automatically any more"), "said once")
		assert.Contains(t, w.stderr.read(), "client_line_unreadable")
	}
}
