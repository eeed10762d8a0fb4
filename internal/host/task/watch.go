package task

import (
	"slices"

	"github.com/kandev/assent/internal/host/dispatch"
)

// EventKind says what an event is.
type EventKind uint8

const (
	// Lagged: the reader was too slow and missed events; it has to list anew. The
	// zero value.
	Lagged EventKind = iota
	// Changed: the task is new or other than before.
	Changed
	// Forgotten: the task is not there any more. It had ended, or nobody was told of it.
	Forgotten
	// Asked: there is a question.
	Asked
	// QuestionClosed: the question was answered, or nobody waits for its answer.
	QuestionClosed
)

// Event is one thing that happened. Who may be told is for [Service.MaySee].
type Event struct {
	Kind EventKind
	// Task, with [Changed] and [Forgotten].
	Task Task
	// Above, with [Forgotten], are the tasks that it was below, as far as they were there.
	Above []ID
	// Question, with [Asked] and [QuestionClosed].
	Question Question
	// Answered, and by whom, with [QuestionClosed]. The answer is not told.
	Answered bool
	By       string
}

// Saw says whether somebody who watches a task and its descendants, or all tasks
// (empty), may be told that a task is [Forgotten]: as [Service.MaySee] did before.
func (e Event) Saw(p Person, watched ID) bool {
	in := func(top ID) bool { return top == e.Task.ID || slices.Contains(e.Above, top) }
	return allowed(p, dispatch.ScopeView) == nil && (watched == "" || in(watched)) &&
		(p.Tasks == nil || slices.ContainsFunc(p.Tasks, func(top string) bool { return in(ID(top)) }))
}

// watcher is one reader. Its channel has one more place than events may wait: the
// last one is for [Lagged].
type watcher struct {
	events chan Event
	lagged bool
}

// Watch tells of what happens from now on, in its order. At most buffer events
// wait; what a slower reader misses is replaced by one [Lagged] at the end of
// them, and nobody is held up. To miss nothing, watch first and then list. The
// channel is closed by stop and by [Service.Close].
func (s *Service) Watch(buffer int) (events <-chan Event, stop func()) {
	w := &watcher{events: make(chan Event, max(buffer, 1)+1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		close(w.events)
		return w.events, func() {}
	}
	s.watchers[w] = struct{}{}
	return w.events, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, ok := s.watchers[w]; ok {
			delete(s.watchers, w)
			close(w.events)
		}
	}
}

// tell never blocks: the lock is held, so readers alone touch the channels
// meanwhile, and what was free stays free.
func (s *Service) tell(ev Event) {
	for w := range s.watchers {
		if w.lagged && len(w.events) > 0 {
			continue // Lagged still waits, as the last one; it covers this event too
		}
		w.lagged = len(w.events) == cap(w.events)-1
		if w.lagged {
			w.events <- Event{Kind: Lagged}
			continue
		}
		w.events <- ev
	}
}
