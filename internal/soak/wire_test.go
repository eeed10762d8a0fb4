package soak

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

const (
	asks      = `{"jsonrpc":"2.0","id":%s,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]}}`
	selects   = `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`
	cancels   = `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"cancelled"}}}`
	prompts   = `{"jsonrpc":"2.0","id":%s,"method":"session/prompt","params":{"sessionId":"s"}}`
	turnEnds  = `{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`
	updates   = `{"jsonrpc":"2.0","method":"session/update","params":{}}`
	takesBack = `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%s}}`
)

// played is a wire with some lines: "<" comes from the agent, ">" goes to it.
func played(lines ...string) (*wire, *totals) {
	all := newTotals()
	w := newWire(all)
	for _, line := range lines {
		if line[0] == '<' {
			_ = w.Agent([]byte(line[1:]))
		} else {
			_ = w.Client([]byte(line[1:]))
		}
	}
	return w, all
}

func line(format, id string) string { return fmt.Sprintf(format, id) }

func violations(t *totals) []string { return slices.Sorted(maps.Keys(t.violations)) }

func TestWhatTheWireShows(t *testing.T) {
	for name, test := range map[string]struct {
		lines []string
		want  []string
	}{
		"all is well": {[]string{
			">" + line(prompts, "4"), "<" + updates, "<" + line(asks, "0"), "<" + line(asks, `"0"`), "<" + line(takesBack, "0"),
			">" + line(cancels, "0"), ">" + line(selects, `"0"`), "<" + line(turnEnds, "4"),
		}, nil},
		"two answers":             {[]string{"<" + line(asks, "0"), ">" + line(selects, "0"), ">" + line(cancels, "0")}, []string{"an offer was answered twice"}},
		"the same answer twice":   {[]string{"<" + line(asks, "0"), ">" + line(selects, "0"), ">" + line(selects, "0")}, []string{"an offer was answered twice"}},
		"an answer to nothing":    {[]string{"<" + line(asks, "0"), ">" + line(selects, `"0"`)}, []string{"an answer is for no offer"}},
		"no answer in the turn":   {[]string{">" + line(prompts, "4"), "<" + line(asks, "0"), "<" + line(turnEnds, "4")}, []string{"a turn ended before each of its offers had an answer"}},
		"not the agent's id":      {[]string{"<" + line(asks, "0"), "<" + line(asks, "0")}, []string{"the agent used the id of a request twice"}},
		"no message of the agent": {[]string{"<{"}, []string{"the agent sent a line that is no message"}},
		"no message of ours":      {[]string{">{"}, []string{"a line to the agent is no message"}},
	} {
		_, all := played(test.lines...)
		assert.Equal(t, test.want, violations(all), name)
	}
}

func TestAnswersAreReadStrictly(t *testing.T) {
	const begin, end = `{"jsonrpc":"2.0","id":0,"result":`, `}`
	for answer, want := range map[string]error{
		begin + `{"outcome":{"outcome":"cancelled"}}` + end:                                 nil,
		begin + `{"outcome":{"outcome":"selected","optionId":"yes"}}` + end:                 nil,
		begin + `{"outcome":{"outcome":"selected","optionId":"no"}}` + end:                  errNotOffered,
		begin + `{"outcome":{"outcome":"selected","optionId":7}}` + end:                     errMalformed,
		begin + `{"outcome":{"outcome":"selected","optionId":"no","optionId":"yes"}}` + end: errMalformed,
		begin + `{"outcome":{"outcome":"selected"}}` + end:                                  errMalformed,
		begin + `{"outcome":{"outcome":"cancelled","optionId":"yes"}}` + end:                errMalformed,
		begin + `{"outcome":{"outcome":"maybe"}}` + end:                                     errMalformed,
		begin + `{"outcome":"cancelled"}` + end:                                             errMalformed,
		begin + `{"outcome":{"outcome":"cancelled"},"more":1}` + end:                        errMalformed,
		begin + `{}` + end:   errMalformed,
		begin + `null` + end: errMalformed,
		begin + "{\"outcome\":\n{\"outcome\":\"cancelled\"}}" + end:                                         errMalformed,
		`{"jsonrpc":"1.0","id":0,"result":{"outcome":{"outcome":"cancelled"}}}`:                             errMalformed,
		`{"id":0,"result":{"outcome":{"outcome":"cancelled"}}}`:                                             errMalformed,
		`{"jsonrpc":"2.0","id":0,"error":{"code":1,"message":"no"}}`:                                        errMalformed,
		`{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"cancelled"}},"error":{"code":1}}`:          errMalformed,
		`{"jsonrpc":"2.0","id":0,"id":0,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`:      errMalformed,
		`{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"yes"}},"result":{}}`: errMalformed,
	} {
		_, err := readAnswer([]byte(answer), map[string]string{"yes": "allow_once"})
		assert.Equal(t, want, err, answer)
	}
}

func TestOffersOfAgentsThatAreGone(t *testing.T) {
	for name, test := range map[string]struct {
		how  end
		do   func(*wire)
		want []string
	}{
		"after its turns":            {inPeace, func(*wire) {}, []string{"an agent that was stopped after its turns left an offer without an answer"}},
		"killed":                     {killed, func(w *wire) { w.waits("s", "c") }, nil},
		"stopped, it waited":         {stopped, func(w *wire) { w.waits("s", "c"); w.stopping() }, []string{"an offer that waited when its agent was stopped got no answer"}},
		"stopped, it waited later":   {stopped, func(w *wire) { w.stopping(); w.waits("s", "c") }, nil},
		"stopped, another one did":   {stopped, func(w *wire) { w.waits("s", "d"); w.stopping() }, nil},
		"stopped and answered":       {stopped, func(w *wire) { w.waits("s", "c"); w.stopping(); _ = w.Client([]byte(line(cancels, "0"))) }, nil},
		"its turn ended at its stop": {stopped, func(w *wire) { w.stopping(); _ = w.Agent([]byte(line(turnEnds, "4"))) }, nil},
	} {
		w, all := played(">"+line(prompts, "4"), "<"+line(asks, "0"))
		test.do(w)
		w.gone(test.how)
		assert.Equal(t, test.want, violations(all), name)
		all.balance()
		assert.Equal(t, test.want, violations(all), name)
	}
}

func TestTheFiguresHaveToMatch(t *testing.T) {
	_, all := played("<"+line(asks, "0"), "<"+line(asks, "1"), ">"+line(selects, "1"))
	all.balance()
	assert.Equal(t, []string{"2 offers, but 1 answers and 0 offers of agents that were gone"}, violations(all))
}

func TestAnAgentThatIsDisturbed(t *testing.T) {
	w, _ := played(">"+line(prompts, "4"), "<"+line(asks, "0"))
	assert.True(t, w.behaved())
	w.stopping()
	assert.False(t, w.behaved())
	w, _ = played(`>{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
	assert.False(t, w.behaved())
}

func TestAlarms(t *testing.T) {
	w, _ := played("<" + line(asks, "0"))
	rung := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	first, second, third := w.after(1), w.after(2), w.after(3)
	assert.True(t, rung(first))
	assert.False(t, rung(second))
	_ = w.Agent([]byte(line(asks, "1")))
	assert.True(t, rung(second))
	assert.False(t, rung(third))
	w.quiet()
	assert.True(t, rung(third))
}

func TestFlat(t *testing.T) {
	point := func(heap uint64, goroutines, files int) checkpoint {
		return checkpoint{at: time.Second, heap: heap << 20, goroutines: goroutines, files: files}
	}
	of := func(heap, goroutines, files int, more ...checkpoint) []checkpoint {
		var points []checkpoint
		for range 7 {
			points = append(points, point(uint64(heap), goroutines, files))
		}
		return append(points, more...)
	}
	for name, test := range map[string]struct {
		points []checkpoint
		want   string
	}{
		"flat":              {of(10, 5, 9), ""},
		"a peak":            {of(10, 5, 9, point(90, 90, 90), point(10, 5, 9)), ""},
		"filled at first":   {append([]checkpoint{point(1, 1, 1)}, of(10, 5, 9)...), ""},
		"the heap grows":    {of(10, 5, 9, point(20, 5, 9), point(21, 5, 9), point(22, 5, 9), point(23, 5, 9)), "the heap grew from 10.0 to 21.0 MiB"},
		"goroutines leak":   {of(10, 5, 9, point(10, 50, 9), point(10, 51, 9), point(10, 52, 9), point(10, 53, 9)), "the goroutines grew from 5 to 51"},
		"files stay open":   {of(10, 5, 9, point(10, 5, 20), point(10, 5, 20), point(10, 5, 20), point(10, 5, 20)), "the open files grew from 9 to 20"},
		"looked at too few": {of(10, 5, 9)[:3], "memory was looked at 3 times only: let it run for longer"},
	} {
		err := flat(test.points)
		if test.want == "" {
			assert.NoError(t, err, name)
			continue
		}
		assert.EqualError(t, err, test.want, name)
	}
}
