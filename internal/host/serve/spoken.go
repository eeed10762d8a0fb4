package serve

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/task"
)

// Bounds of what is kept of what was said, in bytes. Each piece costs pieceCost more.
const (
	maxSpokenOf = 16 << 10 // of one task
	maxSpoken   = 1 << 20  // of all: tasks that have been quiet for longest go first
	pieceCost   = 64
)

// Who said something.
const (
	fromAgent  = "agent"
	fromHost   = "host"   // about the task
	fromPrompt = "prompt" // to the agent, by whomever
)

// textView is a piece of what is said in a task.
type textView struct {
	Task task.ID `json:"task"`
	Text string  `json:"text"`
	From string  `json:"from"`
	// Begins says that the piece does not go on with the one before it.
	Begins bool `json:"begins"`
	// Number is that of the piece in its task and this run; of several in one, that of
	// the last. What is told twice has the same.
	Number uint64 `json:"number"`
}

// spoken keeps the end of what was said in each task, in memory alone.
type spoken struct {
	mu    sync.Mutex
	tasks map[task.ID]*spokenOf
	order []task.ID // those of which something is kept, the quietest first
	size  int
}

// spokenOf is the end of what was said in one task.
type spokenOf struct {
	pieces []textView
	size   int
	number uint64
	begins bool // the next piece does
	cut    bool // there was more
}

func newSpoken() *spoken { return &spoken{tasks: map[task.ID]*spokenOf{}} }

// add keeps a piece, and hands it to tell in the order of the numbers.
func (s *spoken) add(of task.ID, from, text string, tell func(textView)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.tasks[of]
	if kept == nil {
		kept = &spokenOf{begins: true}
		s.tasks[of] = kept
	}
	if last := len(s.order) - 1; last < 0 || s.order[last] != of {
		s.order = append(slices.DeleteFunc(s.order, func(id task.ID) bool { return id == of }), of)
	}
	s.size -= kept.size
	v := kept.add(of, from, text)
	s.size += kept.size
	for s.size > maxSpoken && s.order[0] != of {
		s.clear(s.order[0])
	}
	tell(v)
}

// add keeps a piece and gives it as it is told.
func (k *spokenOf) add(of task.ID, from, text string) textView {
	last := len(k.pieces) - 1
	begins := k.begins || from != fromAgent || last < 0 || k.pieces[last].From != from
	k.number++
	k.begins = false
	v := textView{of, text, from, begins, k.number}
	if begins {
		k.pieces = append(k.pieces, v)
		k.size += pieceCost
	} else {
		k.pieces[last].Text += text
		k.pieces[last].Number = k.number
	}
	k.size += len(text)
	k.shorten()
	return v
}

// shorten takes away what was said first.
func (k *spokenOf) shorten() {
	for k.size > maxSpokenOf {
		k.cut = true
		first := &k.pieces[0]
		more := k.size - maxSpokenOf
		if more >= len(first.Text) && len(k.pieces) > 1 {
			k.size -= len(first.Text) + pieceCost
			k.pieces = k.pieces[1:]
			continue
		}
		more = min(more, len(first.Text))
		for more < len(first.Text) && !utf8.RuneStart(first.Text[more]) {
			more++
		}
		first.Text = strings.Clone(first.Text[more:])
		k.size -= more
		return
	}
}

// pause lets the next piece of a task begin anew: the agent has done something else.
func (s *spoken) pause(of task.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept := s.tasks[of]; kept != nil {
		kept.begins = true
	}
}

// all are the pieces, oldest first in each task, of the tasks that somebody may see.
func (s *spoken) all(visible func(task.ID) bool) []textView {
	s.mu.Lock()
	kept := make(map[task.ID][]textView, len(s.tasks))
	for id, k := range s.tasks {
		kept[id] = slices.Clone(k.pieces)
		if k.cut && len(k.pieces) > 0 {
			kept[id][0].Text = "…" + kept[id][0].Text
		}
	}
	s.mu.Unlock()
	list := []textView{}
	for id, pieces := range kept {
		if visible(id) {
			list = append(list, pieces...)
		}
	}
	return list
}

// forget forgets tasks that are gone.
func (s *spoken) forget(gone func(task.ID) bool) {
	s.mu.Lock()
	ids := slices.Collect(maps.Keys(s.tasks))
	s.mu.Unlock()
	ids = slices.DeleteFunc(ids, func(id task.ID) bool { return !gone(id) })
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if s.tasks[id] == nil {
			continue // somebody else forgot it meanwhile
		}
		s.clear(id)
		delete(s.tasks, id)
	}
}

// clear keeps nothing of a task but the number, which goes on. The lock is held.
func (s *spoken) clear(of task.ID) {
	kept := s.tasks[of]
	s.size -= kept.size
	*kept = spokenOf{number: kept.number, begins: true, cut: true}
	s.order = slices.DeleteFunc(s.order, func(id task.ID) bool { return id == of })
}

// say tells who may see a task what is said in it, and keeps the end of it.
func (s *Server) say(of task.ID, from, text string) {
	s.spoken.add(of, from, display.Text(text, maxShownText), func(v textView) { s.publish("task.text", of, v) })
}
