package console

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/pipeline"
)

// Texts of an agent can be as long as a line. What is kept of them must not be.
func TestLongTextsAreNotKept(t *testing.T) {
	const each, times = 1 << 20, 100
	var out discard
	l := newLedger()
	s := newScreen(&out, l)
	store := pending.New(pending.Config{})
	defer store.Close()
	terminal := newTerminal(s, store, func() {})
	s.surface = terminal
	before := heap()
	for n := range times {
		long := strings.Repeat("x", each) + fmt.Sprint(n)
		s.toolCall(process.View{Session: long, ToolCall: long, Kind: "tool_call", Status: "completed"})
		l.Arrived("", endpoint.Arrival{Tool: long, ToolUseID: long})
		terminal.asked(process.Question{Number: uint64(n), ToolCall: long, Action: process.Action{Title: long},
			Options: []pipeline.Option{{ID: "a", Kind: long, Label: long}}})
	}
	assert.Less(t, heap()-before, int64(each*times/10))
	assert.Less(t, out.bytes, each, "nor is all of it drawn")
	assert.Len(t, terminal.numbers(), times)
	assert.True(t, l.arrived(&ledgerEntry{tool: strings.Repeat("x", each) + "7", call: l.keys.of("", strings.Repeat("x", each)+"7")}))
	assert.False(t, l.arrived(&ledgerEntry{tool: strings.Repeat("x", each) + "7", call: l.keys.of("", strings.Repeat("x", each)+"7")}))
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// discard counts what is written.
type discard struct{ bytes int }

func (d *discard) Write(p []byte) (int, error) { d.bytes += len(p); return len(p), nil }

// The options that are drawn keep their numbers; the others are counted.
func TestManyOptionsAreNotAllDrawn(t *testing.T) {
	options := make([]pipeline.Option, 200)
	for n := range options {
		options[n] = pipeline.Option{ID: fmt.Sprint(n), Kind: pipeline.AllowOnce, Label: fmt.Sprint("label ", n+1)}
	}
	b := newBench(t)
	b.offer(options...)
	assert.Contains(t, b.out.String(), "   50  allow_once     ‹label 50›\n            and 150 more options, which are not shown and cannot be chosen here\n")
	assert.NotContains(t, b.out.String(), "label 51")
	b.types("1 51")
	assert.Contains(t, b.out.String(), "option 51 of question 1 was not shown, and cannot be chosen here")
	b.types("1 201")
	assert.Contains(t, b.out.String(), "question 1 has the options 1 to 50")
	require.Empty(t, b.answers)
	b.types("1 50")
	assert.Equal(t, []string{"person_selected 49"}, b.answers)
}
