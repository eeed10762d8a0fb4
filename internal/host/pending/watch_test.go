package pending

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/pipeline"
)

func TestWatchTellsInOrder(t *testing.T) {
	s, w := newStore(t), &wire{}
	events, stop := s.Watch(10)
	key := register(t, s, offer("i", "s", "1", w))
	opened, _ := s.Get(key)
	resolves(t, s, key, Deny())
	assert.Equal(t, Event{Kind: Opened, Snapshot: opened}, <-events)
	closed := <-events
	assert.Equal(t, Event{Kind: Closed, Snapshot: opened, Outcome: w.last(t)}, closed)
	assert.Equal(t, pipeline.Select, closed.Outcome.Verdict)
	assert.Empty(t, events)
	stop()
	stop()
	_, open := <-events
	assert.False(t, open)
	register(t, s, offer("i", "s", "1", w))
}

func TestWatchSaysThatItLagged(t *testing.T) {
	s, w := newStore(t), &wire{}
	events, stop := s.Watch(3)
	defer stop()
	for range 10 {
		register(t, s, offer("i", "s", "1", w)) // never blocks
	}
	var kinds []EventKind
	for range 4 {
		kinds = append(kinds, (<-events).Kind)
	}
	assert.Equal(t, []EventKind{Opened, Opened, Opened, Lagged}, kinds)
	assert.Empty(t, events)
	assert.Len(t, listed(s), 10, "the reader lists anew")

	key := register(t, s, offer("i", "s", "1", w))
	ev := <-events
	assert.Equal(t, Opened, ev.Kind)
	assert.Equal(t, key, ev.Snapshot.Key)
}

// While Lagged still waits to be read, more changes need no further word.
func TestWatchLagsOnce(t *testing.T) {
	s, w := newStore(t), &wire{}
	events, stop := s.Watch(1)
	defer stop()
	for range 3 {
		register(t, s, offer("i", "s", "1", w))
	}
	assert.Equal(t, Opened, (<-events).Kind)
	register(t, s, offer("i", "s", "1", w))
	assert.Equal(t, Lagged, (<-events).Kind)
	assert.Empty(t, events)
	register(t, s, offer("i", "s", "1", w))
	register(t, s, offer("i", "s", "1", w))
	assert.Equal(t, Opened, (<-events).Kind)
	assert.Equal(t, Lagged, (<-events).Kind)
}

func TestWatchIsClosedWithTheStore(t *testing.T) {
	s, w := New(Config{}), &wire{}
	events, stop := s.Watch(0)
	register(t, s, offer("i", "s", "1", w))
	s.Close()
	stop()
	var kinds []string
	for ev := range events {
		kinds = append(kinds, ev.Kind.String())
	}
	assert.Equal(t, []string{"opened", "lagged"}, kinds, "the end of the offer did not fit")
	late, stop := s.Watch(1)
	defer stop()
	_, open := <-late
	assert.False(t, open)
	assert.Equal(t, "lagged opened closed closed", fmt.Sprint(Lagged, " ", Opened, " ", Closed, " ", EventKind(9)))
}
