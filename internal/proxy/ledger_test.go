package proxy

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kandev/assent/pipeline/acp"
)

func TestTheLedgerIsBounded(t *testing.T) {
	l := newLedger()
	for n := range maxOpen {
		l.ask(&asked{id: acp.NewID(strconv.Itoa(n)), session: "s"})
	}
	more := acp.NewID("-1")
	assert.False(t, l.free(more))
	_, relay := l.answer(acp.NewID("0"), true, false)
	assert.True(t, relay)
	assert.True(t, l.free(more))
	assert.Len(t, l.cancel("s"), maxOpen-1)
	assert.Len(t, l.owed, maxOpen-1)
	assert.False(t, l.free(acp.NewID("1")), "its answer is owed")
	assert.True(t, l.free(more))
	l.ask(&asked{id: more, session: "s"})
	l.cancel("s")
	assert.False(t, l.free(acp.NewID("-2")), "too many answers are owed")
	assert.LessOrEqual(t, len(l.settled)+len(l.earlier), 2*maxSettled)

	l = newLedger()
	for n := range 2 * maxOpen {
		l.request(acp.NewID(strconv.Itoa(n)))
	}
	assert.Len(t, l.other, maxOpen)
	_, relay = l.answer(acp.NewID(strconv.Itoa(maxOpen+1)), false, false)
	assert.True(t, relay, "its answer is relayed all the same")

	long := acp.NewID(`"` + strings.Repeat("x", maxSettledID) + `"`)
	l.ask(&asked{id: long})
	_, relay = l.answer(long, false, true)
	assert.True(t, relay)
	assert.Empty(t, l.settled, "an id that long is not remembered")
}

// An offer that has its answer gets no second one, of whatever form: a client that
// fails and then says so is dropped. An answer to nothing we know of is not.
func TestAnErrorIsAnAnswerToo(t *testing.T) {
	failed := `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}` + "\n"
	w := newWire(t)
	w.asks(offerLine("1", "s", "Bash"))
	assert.Equal(t, failed, w.clientSays(failed))
	for _, again := range []string{failed, resultLine("1", "{}"), cancelledLine("1")} {
		assert.Empty(t, w.clientSays(again))
	}
	w.asks(requestLine("1", "fs/read_text_file", "{}"))
	assert.Equal(t, failed, w.clientSays(failed), "another request is another matter")
	assert.Equal(t, failed, w.clientSays(failed))
	unknown := strings.Replace(failed, `"id":1`, `"id":null`, 1)
	assert.Equal(t, unknown, w.clientSays(unknown))

	w = newWire(t, approving)
	w.answers(offerLine("1", "s", "Bash"), selectedLine("1", "once"))
	assert.Empty(t, w.clientSays(failed), "nobody asked the client")
}

// While an offer is open the agent asks for something else with its id: neither takes
// the other one's answer.
func TestAnotherRequestWithTheIDOfAnOpenOffer(t *testing.T) {
	w := newWire(t)
	w.asks(offerLine("7", "s", "Bash"))
	w.asks(requestLine("7", "fs/read_text_file", "{}"))
	read := resultLine("7", `{"content":"x"}`)
	assert.Equal(t, read, w.clientSays(read))
	assert.Equal(t, selectedLine("7", "once"), w.clientSays(selectedLine("7", "once")), "the person's answer is still waited for")
	assert.Empty(t, w.clientSays(selectedLine("7", "once")))
}

// model is what the model knows: what the agent asked and was told, and what the
// client still has to answer.
type model struct {
	relay *relay
	agent *side
	// By id: requests of the agent, and answers that it got.
	requests, answers map[string]int
	open              []question // at the client
	offers            int        // that were asked by now
	// The offers that wait for their answer, by id: their numbers, which are in the
	// options.
	waits map[string]int
}

// question is one that the client was asked.
type question struct {
	id     string
	offer  bool
	number int // of an offer
}

// agentSays one line, and takes what comes of it.
func (m *model) agentSays(t *rapid.T, id, line string, offer bool) {
	m.requests[id]++
	before := m.waits[id]
	if m.relay.takeAgent(t.Context(), []byte(line)) {
		m.open = append(m.open, question{id, offer, m.offers})
		if offer {
			m.waits[id] = m.offers
		}
		m.settle(t)
		return
	}
	m.settle(t) // the answer is this one's
	if before != 0 {
		m.waits[id] = before
	}
}

func (m *model) clientSays(t *rapid.T, line string) {
	m.relay.takeClient([]byte(line))
	m.settle(t)
}

// settle reads what the agent was told. What selects an option is for the offer that
// waits and has it.
func (m *model) settle(t *rapid.T) {
	m.relay.agent.writing.Lock()
	m.relay.agent.drain()
	m.relay.agent.writing.Unlock()
	for line := range strings.Lines(m.agent.read()) {
		f, err := acp.Peek([]byte(line))
		require.NoError(t, err, line)
		if f.Kind != acp.KindResponse {
			continue
		}
		id := f.ID.String()
		m.answers[id]++
		require.LessOrEqual(t, m.answers[id], m.requests[id], "more answers than requests: %s", line)
		if option, selected, _ := f.Outcome(); selected && option != "never offered" {
			require.Equal(t, optionOf(m.waits[id]), option, "the answer to another offer")
		}
		delete(m.waits, id)
	}
}

// optionOf is the allowing option of an offer.
func optionOf(number int) string { return fmt.Sprint("once-", number) }

// opens says whether the client has a question with an id.
func (m *model) opens(id string, offer bool) bool {
	for _, q := range m.open {
		if q.id == id && q.offer == offer {
			return true
		}
	}
	return false
}

// answer makes the client answer one question.
func (m *model) answer(t *rapid.T, at int) {
	q := m.open[at]
	m.open = append(m.open[:at:at], m.open[at+1:]...)
	line := resultLine(q.id, `{"content":"x"}`)
	if q.offer {
		line = answerOf(t, q.id, q.number)
	}
	m.clientSays(t, line)
}

// answerOf is some answer of a client to an offer.
func answerOf(t *rapid.T, id string, number int) string {
	return rapid.SampledFrom([]string{
		selectedLine(id, optionOf(number)), selectedLine(id, "never offered"), cancelledLine(id),
		`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":1}}` + "\n", resultLine(id, "{}"),
	}).Draw(t, "answer")
}

// actions are what agent and client do.
func (m *model) actions() map[string]func(*rapid.T) {
	ids := rapid.SampledFrom([]string{"0", "1", `"1"`, "7"})
	sessions := rapid.SampledFrom([]string{"a", "b"})
	return map[string]func(*rapid.T){
		"offer": func(t *rapid.T) {
			id := ids.Draw(t, "id")
			m.offers++
			line := strings.Replace(offerLine(id, sessions.Draw(t, "session"), "Bash"), `"once"`, strconv.Quote(optionOf(m.offers)), 1)
			m.agentSays(t, id, line, true)
		},
		"empty offer": func(t *rapid.T) {
			id := ids.Draw(t, "id")
			if m.opens(id, true) {
				t.Skip("its answer would be taken for the other one's")
			}
			m.agentSays(t, id, strings.Replace(offerLine(id, "a", "Bash"), threeOptions, "[]", 1), true)
		},
		"request": func(t *rapid.T) {
			id := ids.Draw(t, "id")
			if m.opens(id, true) || m.opens(id, false) {
				t.Skip("an agent that uses an id twice at one time does not know itself which is which")
			}
			m.agentSays(t, id, requestLine(id, "fs/read_text_file", `{"path":"/x"}`), false)
		},
		"cancel": func(t *rapid.T) { m.clientSays(t, cancelOf(sessions.Draw(t, "session"))) },
		"answer": func(t *rapid.T) {
			if len(m.open) == 0 {
				t.Skip("nothing is asked")
			}
			m.answer(t, rapid.IntRange(0, len(m.open)-1).Draw(t, "question"))
		},
		"answer nothing": func(t *rapid.T) {
			id := ids.Draw(t, "id")
			if m.opens(id, true) || m.opens(id, false) || m.offers == 0 {
				t.Skip("it is asked")
			}
			m.clientSays(t, rapid.SampledFrom([]string{selectedLine(id, "once"), cancelledLine(id)}).Draw(t, "answer"))
		},
	}
}

// Whatever agent and client do, each request of the agent has one answer in the end,
// and none has two on the way.
func TestOneAnswerPerOffer(t *testing.T) {
	pipelines, set := hostPipelines(t)
	rapid.Check(t, func(t *rapid.T) {
		o := Options{ToClient: newSide(), Stderr: newSide(), Pipelines: pipelines, Dialects: set}
		r, err := newRelay(t.Context(), o)
		require.NoError(t, err)
		m := &model{relay: r, agent: newSide(), requests: map[string]int{}, answers: map[string]int{}, waits: map[string]int{}}
		r.agent = newToAgent(m.agent, nil)
		t.Repeat(m.actions())
		for len(m.open) > 0 {
			m.answer(t, 0)
		}
		assert.Equal(t, fmt.Sprint(m.requests), fmt.Sprint(m.answers))
	})
}
