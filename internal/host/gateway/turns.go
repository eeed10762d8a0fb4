package gateway

import (
	"context"
	"sync"
	"time"
)

// turns lets the goroutine that has read a message answer it, too: starting another
// one, or a timer, would take longer than most requests. Only where a request lasts
// does another goroutine read on. One clock looks after the requests of all clients;
// it stands still when there have been none for a while.
type turns struct {
	wake chan struct{}

	mu     sync.Mutex
	open   map[*turn]bool
	asleep bool
	seen   bool // whether a turn was begun since the last tick
}

// turn is one request while it runs.
type turn struct {
	readOn func() // starts another goroutine
	old    bool   // it has lived through a tick
}

const (
	// patience is how long a request keeps the next one of its client from being
	// read: at least once, at most twice.
	patience = time.Millisecond
	// restless is for how many ticks the clock goes on when there is nothing to do.
	restless = 500
)

func newTurns() *turns {
	return &turns{wake: make(chan struct{}, 1), open: map[*turn]bool{}, asleep: true}
}

// begin notes that a request runs.
func (s *turns) begin(readOn func()) *turn {
	t := &turn{readOn: readOn}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[t] = true
	s.seen = true
	if s.asleep {
		s.asleep = false
		s.wake <- struct{}{}
	}
	return t
}

// end says whether nobody else reads on.
func (s *turns) end(t *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.open[t]
	delete(s.open, t)
	return own
}

// run is the clock.
func (s *turns) run(ctx context.Context) {
	for {
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		}
		ticker := time.NewTicker(patience)
		for idle := 0; idle < restless || !s.sleep(); {
			select {
			case <-ticker.C:
			case <-ctx.Done():
				ticker.Stop()
				return
			}
			if idle++; s.tick() {
				idle = 0
			}
		}
		ticker.Stop()
	}
}

// tick hands on the reading of clients whose request lasts. It says whether there
// was anything to look after.
func (s *turns) tick() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	busy := s.seen
	s.seen = false
	for t := range s.open {
		busy = true
		if t.old {
			delete(s.open, t)
			t.readOn()
		}
		t.old = true
	}
	return busy
}

// sleep stops the clock, unless something has come up.
func (s *turns) sleep() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asleep = len(s.open) == 0
	return s.asleep
}
