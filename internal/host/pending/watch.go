package pending

import (
	"fmt"
	"log/slog"
)

// EventKind says what changed.
type EventKind uint8

const (
	// Lagged: the reader was too slow and missed changes; it has to list anew.
	// The zero value.
	Lagged EventKind = iota
	// Opened: an offer waits.
	Opened
	// Closed: an offer ended.
	Closed
)

// String gives the kind's name.
func (k EventKind) String() string {
	return [...]string{"lagged", "opened", "closed"}[min(k, Closed)]
}

// Event is one change of the store.
type Event struct {
	Kind EventKind
	// Snapshot of the offer, with [Opened] and [Closed].
	Snapshot Snapshot
	// Outcome of the offer, with [Closed].
	Outcome Outcome
}

// LogValue is what a log may say about an event.
func (e Event) LogValue() slog.Value {
	return slog.GroupValue(slog.String("event", e.Kind.String()), slog.Any("offer", e.Snapshot), slog.Any("outcome", e.Outcome))
}

// Format prints no text of the agent.
func (e Event) Format(w fmt.State, _ rune) {
	_, _ = fmt.Fprintf(w, "%s: %v", e.Kind, e.Snapshot)
}

// watcher is one reader of changes. Its channel has one more place than events
// may wait: the last one is for [Lagged].
type watcher struct {
	events chan Event
	lagged bool
}

// Watch tells of changes from now on, in their order. At most buffer events wait;
// what a slower reader misses is replaced by one [Lagged] at the end of them, and
// the store is never held up. To miss nothing, watch first and then list. The
// channel is closed by stop and by [Store.Close].
func (s *Store) Watch(buffer int) (events <-chan Event, stop func()) {
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

// tell is called with the lock held, which makes the store the only writer.
func (s *Store) tell(ev Event) {
	for w := range s.watchers {
		w.send(ev)
	}
}

// send never blocks: only readers take from the channel meanwhile, so what was
// free stays free.
func (w *watcher) send(ev Event) {
	if w.lagged && len(w.events) > 0 {
		return // Lagged still waits, as the last one; it covers this change too
	}
	w.lagged = len(w.events) == cap(w.events)-1
	if w.lagged {
		ev = Event{Kind: Lagged}
	}
	w.events <- ev
}
