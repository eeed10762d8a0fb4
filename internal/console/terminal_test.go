package console

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/stages"
)

// bench is a terminal in front of a store, with offers that nobody sent.
type bench struct {
	*terminal
	t       *testing.T
	out     bytes.Buffer
	flushed int
	asking  uint64
	answers []string
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t}
	store := pending.New(pending.Config{})
	t.Cleanup(store.Close)
	store.Attach(pending.Scope{})
	s := newScreen(&b.out, newLedger())
	s.columns = func() int { return 200 }
	b.terminal = newTerminal(s, store, func() { b.flushed++ })
	s.surface = b.terminal
	return b
}

// offer asks the person, and gives the key of the offer.
func (b *bench) offer(options ...pipeline.Option) pending.Key {
	b.t.Helper()
	if options == nil {
		options = []pipeline.Option{{ID: "a", Kind: pipeline.AllowOnce, Label: "Yes"}, {ID: "r", Kind: pipeline.RejectOnce, Label: "No"}}
	}
	req := &pipeline.Request{SessionID: "s", Options: options, Call: pipeline.ToolCall{ID: "c", Title: pipeline.NewText("ls")}}
	b.asking++
	number := b.asking
	result := pipeline.Result{Decision: pipeline.Decision{Verdict: pipeline.Pend, Reason: "why"}, Stage: "pending"}
	id, err := b.store.Register(pending.Offer{Instance: "1", Request: req, Result: result, Deliver: func(o pending.Outcome) error {
		b.answers = append(b.answers, string(o.Reason)+" "+o.OptionID)
		b.screen.Answered(context.Background(), process.Answered{Instance: "1", Number: number, Outcome: o})
		return nil
	}})
	require.NoError(b.t, err)
	key := pending.Key{Instance: "1", Session: "s", Request: id}
	b.asked(process.Question{Key: key, Number: number, Result: result, Options: options, Action: process.Action{Title: "ls"}})
	return key
}

// types types a line now.
func (b *bench) types(text string) { b.Answer(line{text: text, at: time.Now().Add(time.Second)}, true) }

func TestSeveralQuestionsEachWithItsOwnNumber(t *testing.T) {
	b := newBench(t)
	b.offer()
	b.offer()
	b.types("2 1")
	assert.Equal(t, []string{"person_selected a"}, b.answers)
	b.types("2 1") // a number is never used again
	assert.Contains(t, b.out.String(), "question 2 is not open; open: 1")
	b.offer()
	b.types("1 2")
	assert.Equal(t, []string{"person_selected a", "person_selected r"}, b.answers)
	assert.Equal(t, []uint64{3}, b.numbers())
}

// An option without its question could be meant for another one: it is asked for.
func TestAnOptionWithoutItsQuestion(t *testing.T) {
	b := newBench(t)
	b.offer()
	for _, typed := range []string{"1", "?", "why"} {
		b.out.Reset()
		assert.True(t, b.Answer(line{text: typed, at: time.Now().Add(time.Second)}, false), "it is no prompt")
		assert.Contains(t, b.out.String(), "of which question? for question 1 type: 1 "+typed)
	}
	assert.Empty(t, b.answers)
	b.types("1 1")
	assert.Equal(t, []string{"person_selected a"}, b.answers)
	assert.False(t, b.Answer(line{text: "1", at: time.Now()}, false), "with no question open it is a prompt")
}

// Why one is asked is said in words, too.
func TestWhyInWords(t *testing.T) {
	p, err := pipeline.New(pipeline.Order{stages.IdentityName}, []pipeline.Stage{stages.Identity{}})
	require.NoError(t, err)
	lines := whyLines(p.Decide(t.Context(), &pipeline.Request{}))
	assert.Contains(t, strings.Join(lines, "\n"), "name_absent: "+meanings["name_absent"])
	assert.NotEmpty(t, meanings["name_absent"])
}

func TestWhatWasTypedBeforeAQuestionIsNoAnswer(t *testing.T) {
	b := newBench(t)
	early := line{text: "1 1", at: time.Now()}
	b.offer()
	assert.Equal(t, 1, b.flushed, "what was not read yet is discarded")
	assert.True(t, b.Answer(early, true))
	assert.Empty(t, b.answers)
	assert.Contains(t, b.out.String(), "that was typed before question 1 was shown, and is ignored")
	b.types("1 1")
	assert.Equal(t, []string{"person_selected a"}, b.answers)
}

func TestAnAnswerThatComesTooLateIsSaid(t *testing.T) {
	b := newBench(t)
	b.offer()
	o := b.open[1]
	b.store.CancelSession("1", "s")
	assert.Empty(t, b.numbers(), "it is closed here as well")
	b.reply(o, "1")
	assert.Contains(t, b.out.String(), "#1  that answer came to nothing: pending: the request ended before it was answered")
	b.reply(o, "?")
	assert.Equal(t, []string{"session_cancelled "}, b.answers)
}

func TestWhoLeavesCancels(t *testing.T) {
	b := newBench(t)
	b.offer()
	b.offer()
	b.close()
	b.offer() // nobody is left to type
	assert.Equal(t, []string{"person_cancelled ", "person_cancelled ", "person_cancelled "}, b.answers)
	assert.Empty(t, b.numbers())
}

func TestOneIDForAnAllowAndARejectSelectsNothing(t *testing.T) {
	b := newBench(t)
	key := b.offer(pipeline.Option{ID: "x", Kind: pipeline.AllowOnce}, pipeline.Option{ID: "x", Kind: pipeline.RejectOnce})
	b.types("1 2")
	assert.Empty(t, b.answers)
	assert.Contains(t, b.out.String(), "option_id_of_several_kinds")
	_, err := b.store.Get(key)
	assert.NoError(t, err, "it stays open")
}
