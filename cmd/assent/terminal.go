package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kandev/assent/internal/host/process"
)

// terminal asks the person at the terminal. Several questions can be open; each
// is answered with its number, which is never used again.
type terminal struct {
	screen *screen

	mu   sync.Mutex
	open map[uint64]*openQuestion

	left  chan struct{} // closed when the person has left
	leave sync.Once
}

type openQuestion struct {
	process.Question
	answer chan process.Answer
}

func newTerminal(s *screen) *terminal {
	return &terminal{screen: s, open: map[uint64]*openQuestion{}, left: make(chan struct{})}
}

// close cancels what is open and whatever is asked later: nobody is left to type.
func (t *terminal) close() { t.leave.Do(func() { close(t.left) }) }

// Ask shows the question and waits for the person.
func (t *terminal) Ask(ctx context.Context, q process.Question) process.Answer {
	o := &openQuestion{q, make(chan process.Answer, 1)}
	t.mu.Lock() // shown and open at once: an answer to what was not shown finds nothing
	t.screen.block("question", append(questionLines(q),
		fmt.Sprintf("  answer: %d <option>   everything: %d ?   why you are asked: %d why", q.Number, q.Number, q.Number)))
	t.open[q.Number] = o
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.open, q.Number)
	}()
	select {
	case a := <-o.answer:
		return t.screen.given(q, a)
	case <-t.left:
		return t.screen.given(q, process.Cancel())
	case <-ctx.Done():
		return process.Cancel()
	}
}

// Answer takes a typed line. It says whether the line was meant for a question;
// a line that was not is a prompt, if there is no turn.
func (t *terminal) Answer(line string, working bool) bool {
	numbers := t.numbers()
	fields := strings.Fields(line)
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
	case len(fields) != 2 || err != nil:
		t.screen.line("", "not understood: answer with the question's number and the option's, as in: %d 1", numbers[0])
	case o == nil:
		t.screen.line("", "question %d is not open; open: %s", number, list(numbers))
	default:
		t.reply(o, fields[1])
	}
	return true
}

// reply answers one question, or shows more of it.
func (t *terminal) reply(o *openQuestion, word string) {
	option, err := strconv.Atoi(word)
	switch {
	case word == "?":
		t.screen.block("", detailLines(o.Question))
	case word == "why":
		t.screen.block("", strings.Split(strings.TrimSuffix(o.Result.Explain(), "\n"), "\n"))
	case err != nil || option < 1 || option > len(o.Options):
		t.screen.line("", "question %d has the options 1 to %d; %d ? shows everything", o.Number, len(o.Options), o.Number)
	default:
		select {
		case o.answer <- process.Select(option - 1):
		default: // it was answered just now
		}
	}
}

// looksLikeAnswer tells an answer from a prompt while both are possible.
func looksLikeAnswer(fields []string) bool {
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
