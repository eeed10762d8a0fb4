package acp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
)

// nearlyFull is a decoder whose tracker has room for a few more bytes: the bound
// itself is too large to be filled here.
func nearlyFull(room int) *Decoder {
	d := NewDecoder(Options{})
	d.calls.bytes = maxBytes - room
	return d
}

// announce starts a call whose title is its name; title asks for it.
func announce(t *testing.T, d *Decoder, session, call, more string) {
	t.Helper()
	_, err := d.FromAgent(fmt.Appendf(nil, `{"method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"tool_call","toolCallId":%q,"title":%q%s}}}`, session, call, call, more))
	require.NoError(t, err)
}

func title(t *testing.T, d *Decoder, session, call string) string {
	t.Helper()
	m, err := d.FromAgent(fmt.Appendf(nil, `{"id":1,"method":"session/request_permission","params":{"sessionId":%q,"toolCall":{"toolCallId":%q},"options":[]}}`, session, call))
	require.NoError(t, err)
	text, _ := m.Offer.Request.Call.Title.Value()
	return text
}

// Where memory runs out, the session that was not used for the longest time is
// forgotten first, and what comes of it later is not joined any more.
func TestTrackerForgetsSessions(t *testing.T) {
	d := nearlyFull(5 * callCost)
	announce(t, d, "a", "c", "")
	announce(t, d, "b", "c", "")
	assert.Equal(t, "c", title(t, d, "a", "c"))
	announce(t, d, "a", "c", "") // used later than b
	announce(t, d, "x", "c", "")
	assert.Equal(t, "c", title(t, d, "a", "c"))
	assert.Equal(t, "", title(t, d, "b", "c"))
	assert.Equal(t, "c", title(t, d, "x", "c"))
	announce(t, d, "b", "new", "")
	assert.Equal(t, "", title(t, d, "b", "new"), "it lost something")
	assert.Equal(t, "", title(t, d, "a", "c"), "it was the oldest then")
	assert.Equal(t, "c", title(t, d, "x", "c"))
}

// The session in use forgets its own oldest calls when there is no other one.
func TestTrackerForgetsCalls(t *testing.T) {
	d := nearlyFull(4 * callCost)
	announce(t, d, "a", "c1", "")
	announce(t, d, "a", "c2", "")
	assert.Equal(t, "c1", title(t, d, "a", "c1"))
	assert.Equal(t, "c2", title(t, d, "a", "c2"))
	announce(t, d, "a", "c3", "")
	announce(t, d, "a", "c4", "")
	for _, call := range []string{"c1", "c2", "c3", "c4"} {
		assert.Equal(t, "", title(t, d, "a", call), "it lost something")
	}
	assert.NotContains(t, d.calls.sessions["a"].calls, "c1")
	assert.Contains(t, d.calls.sessions["a"].calls, "c4")
	large := nearlyFull(callCost)
	announce(t, large, "a", "c", `,"_meta":{"x":"`+strings.Repeat("x", 400)+`"}`)
	assert.Empty(t, large.calls.sessions["a"].calls, "not even the one call")
	assert.LessOrEqual(t, large.calls.bytes, maxBytes+callCost)
}

// So many forgotten sessions that they are not told apart any more: then no
// session is what it seems.
func TestTrackerForgetsManySessions(t *testing.T) {
	d := nearlyFull(3 * callCost)
	for i := range maxEnded + 2 {
		announce(t, d, fmt.Sprint("s", i), "c", "")
	}
	assert.LessOrEqual(t, len(d.calls.dropped), maxEnded)
	announce(t, d, "never seen before", "c", "")
	assert.Equal(t, "", title(t, d, "never seen before", "c"))
	// Its twin, where nothing was forgotten.
	d = nearlyFull(3 * callCost)
	announce(t, d, "never seen before", "c", "")
	assert.Equal(t, "c", title(t, d, "never seen before", "c"))
}

// remembers is a dialect that keeps long facts of every call.
type remembers struct{}

func (remembers) Observe(*pipeline.ToolCallUpdate, pipeline.DialectFacts) pipeline.DialectFacts {
	return pipeline.DialectFacts{Server: strings.Repeat("s", 400), Tool: strings.Repeat("t", 400)}
}

// What calls take is given back when they end, start anew or are forgotten.
func TestTrackerAccountsForMemory(t *testing.T) {
	d := NewDecoder(Options{})
	meta := `,"_meta":{"x":"` + strings.Repeat("x", 400) + `"}`
	announce(t, d, "a", "c", meta)
	one := d.calls.bytes
	assert.Greater(t, one, 2*callCost+400)
	texts := NewDecoder(Options{Dialect: remembers{}})
	announce(t, texts, "a", "c", `,"name":"`+strings.Repeat("x", 400)+`","kind":"`+strings.Repeat("x", 400)+`"`)
	assert.Greater(t, texts.calls.bytes, 2*callCost+4*400, "name, kind, and both facts")
	for range 10 {
		announce(t, d, "a", "c", meta) // anew
	}
	assert.Equal(t, one, d.calls.bytes)
	announce(t, d, "a", "c", meta+`,"status":"completed"`)
	ended := d.calls.bytes
	assert.Less(t, ended, one)
	for i := range maxEnded + 10 {
		announce(t, d, "a", fmt.Sprint("d", i%10, i), meta+`,"status":"failed"`)
	}
	full := d.calls.bytes
	for i := range 1000 {
		announce(t, d, "a", fmt.Sprint("e", i%10, i), meta+`,"status":"failed"`)
	}
	assert.InDelta(t, full, d.calls.bytes, 1000)
	for i := range maxCalls {
		announce(t, d, "a", fmt.Sprint("f", i%10, i), meta)
	}
	full = d.calls.bytes
	for i := range 1000 {
		announce(t, d, "a", fmt.Sprint("g", i%10, i), meta)
	}
	assert.InDelta(t, full, d.calls.bytes, 1000)
}
