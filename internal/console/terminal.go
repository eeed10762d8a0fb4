package console

import (
	"fmt"
	"maps"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/pipeline"
)

// terminalSurface is the name under which the person at the terminal answers.
const terminalSurface = "terminal"

// terminal asks the person at the terminal. Several questions can be open; each
// is answered with its number, which is never used again.
type terminal struct {
	screen *screen
	store  *pending.Store
	by     pending.Responder
	flush  func() // discards what was typed and not read yet

	mu   sync.Mutex
	open map[uint64]*openQuestion
	left bool // nobody is left to type
}

// openQuestion is a question as it was drawn, without the texts that only the
// store keeps.
type openQuestion struct {
	process.Question     // its Options are those that were drawn
	offered          int // how many there are
	drawn            time.Time
	columns          int // of the terminal, when it was drawn
}

// newOpenQuestion keeps of a question what an answer needs, and of the agent's
// texts no more than is shown.
func newOpenQuestion(q process.Question) *openQuestion {
	o := &openQuestion{Question: q, offered: len(q.Options)}
	o.Action = process.Action{} // the person sees more of it from the store
	o.ToolCall = strings.Clone(display.Cut(q.ToolCall, maxShownID))
	o.Options = make([]pipeline.Option, min(len(q.Options), maxDrawn))
	for n := range o.Options {
		option := q.Options[n]
		option.Kind, option.Label = strings.Clone(display.Cut(option.Kind, maxShownID)), strings.Clone(display.Cut(option.Label, maxShownTitle))
		o.Options[n] = option
	}
	return o
}

func newTerminal(s *screen, store *pending.Store, flush func()) *terminal {
	by := pending.Responder{Name: "person", Surface: terminalSurface}
	if me, err := user.Current(); err == nil && me.Username != "" {
		by.Name = me.Username
	}
	return &terminal{screen: s, store: store, by: by, flush: flush, open: map[uint64]*openQuestion{}}
}

// asked shows a question. What was typed before that is discarded: it was meant
// for something else.
func (t *terminal) asked(q process.Question) {
	// Shown and open at once: an answer to what was not shown finds nothing.
	t.mu.Lock()
	o := newOpenQuestion(q)
	t.draw(o, func() { t.screen.block("question", questionLines(q)) })
	left := t.left
	if !left {
		t.open[q.Number] = o
	}
	t.mu.Unlock()
	if left {
		t.answer(o, pending.Cancel(), "cancelled")
	}
}

// draw draws a question. What was typed until then is discarded; the last line,
// which says how to answer, comes when an answer counts.
func (t *terminal) draw(o *openQuestion, body func()) {
	o.columns = t.screen.columns()
	body()
	t.flush()
	o.drawn = time.Now()
	t.screen.line("", "%s", howTo(o.Number))
}

// howTo says how a question is answered.
func howTo(number uint64) string {
	return fmt.Sprintf("  answer: %d <option>   everything: %d ?   why you are asked: %d why", number, number, number)
}

// over closes a question.
func (t *terminal) over(number uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, number)
}

// close cancels what is open and whatever is asked later: nobody is left to type.
func (t *terminal) close() {
	t.mu.Lock()
	t.left = true
	open := slices.SortedFunc(maps.Values(t.open), func(a, b *openQuestion) int { return int(a.Number) - int(b.Number) })
	t.mu.Unlock()
	for _, o := range open {
		t.answer(o, pending.Cancel(), "cancelled")
	}
}

// answer answers a question. It is shown before it is given, so that it stands
// before what the agent does with it.
func (t *terminal) answer(o *openQuestion, a pending.Answer, text string) {
	t.screen.line("answer", "#%d  %s", o.Number, text)
	if err := t.store.Resolve(o.Key, a, t.by); err != nil {
		t.screen.line("", "#%d  that answer came to nothing: %v", o.Number, err)
	}
}

// Answer takes a line that was typed. It says whether the line was meant for a
// question; a line that was not is a prompt, if there is no turn.
func (t *terminal) Answer(l line, working bool) bool {
	numbers := t.numbers()
	fields := strings.Fields(l.text)
	if len(numbers) == 0 || (!working && !looksLikeAnswer(fields)) {
		return false
	}
	number, err := uint64(0), error(nil)
	if len(fields) == 2 {
		number, err = strconv.ParseUint(fields[0], 10, 64)
	}
	t.mu.Lock()
	o := t.open[number]
	t.mu.Unlock()
	switch {
	case isChoice(fields): // another question could have come meanwhile
		t.screen.line("", "of which question? for question %d type: %d %s", numbers[0], numbers[0], fields[0])
	case len(fields) != 2 || err != nil:
		t.screen.line("", "not understood: answer with the question's number and the option's, as in: %d 1", numbers[0])
	case o == nil:
		t.screen.line("", "question %d is not open; open: %s", number, list(numbers))
	case !l.at.After(o.drawn):
		t.screen.line("", "that was typed before question %d was shown, and is ignored", number)
	default:
		t.reply(o, fields[1])
	}
	return true
}

// reply answers one question, or shows more of it.
func (t *terminal) reply(o *openQuestion, word string) {
	option, err := strconv.Atoi(word)
	columns := t.screen.columns()
	switch {
	case word == "?":
		t.detail(o)
	case word == "why":
		t.screen.block("", whyLines(o.Result))
	case err == nil && option > len(o.Options) && option <= o.offered:
		t.screen.line("", "option %d of question %d was not shown, and cannot be chosen here", option, o.Number)
	case err != nil || option < 1 || option > len(o.Options):
		t.screen.line("", "question %d has the options 1 to %d; %d ? shows everything", o.Number, len(o.Options), o.Number)
	case columns < leastColumns:
		t.screen.line("", "the terminal is too narrow to show a question: make it wider and answer again")
	case columns < o.columns: // the terminal has wrapped what it showed: agents could have made that up
		t.screen.line("", "the terminal has become narrower, and that answer is ignored: this is question %d again", o.Number)
		t.draw(o, func() { t.detail(o); t.screen.block("", optionLines(o.Options)) })
	default:
		chosen := o.Options[option-1]
		t.answer(o, pending.Select(chosen.ID), optionText(option-1, chosen))
	}
}

// whyLines say what each stage said, with what its reason means.
func whyLines(r pipeline.Result) []string {
	lines := strings.Split(strings.TrimSuffix(r.Explain(), "\n"), "\n")
	for n, step := range r.Trace.Steps() {
		if words := meanings[step.Decision.Reason]; words != "" && n+1 < len(lines) {
			lines[n+1] += ": " + words
		}
	}
	return lines
}

// detail shows everything of a question, which is read for this and not kept.
func (t *terminal) detail(o *openQuestion) {
	d, err := t.store.Detail(o.Key)
	if err != nil {
		t.screen.line("", "#%d  %v", o.Number, err)
		return
	}
	t.screen.block("", detailLines(o.Question, d))
}

// isChoice says whether somebody has typed an option without its question.
func isChoice(fields []string) bool {
	if len(fields) != 1 {
		return false
	}
	_, err := strconv.ParseUint(fields[0], 10, 64)
	return err == nil || fields[0] == "?" || fields[0] == "why"
}

// looksLikeAnswer tells an answer from a prompt while both are possible.
func looksLikeAnswer(fields []string) bool {
	if isChoice(fields) {
		return true
	}
	if len(fields) != 2 {
		return false
	}
	_, err := strconv.ParseUint(fields[0], 10, 64)
	_, notNumber := strconv.Atoi(fields[1])
	return err == nil && (notNumber == nil || fields[1] == "?" || fields[1] == "why")
}

// numbers of the open questions, oldest first.
func (t *terminal) numbers() []uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.open))
}

func list(numbers []uint64) string {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = strconv.FormatUint(n, 10)
	}
	return strings.Join(words, ", ")
}
