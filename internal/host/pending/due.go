package pending

import (
	"container/heap"
	"time"
)

// dueHeap holds the open offers that the clock has to look at, the next one first.
type dueHeap []dueOffer

type dueOffer struct {
	at int64 // nanoseconds since the store's epoch
	e  *entry
}

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].e.place, h[j].e.place = int32(i), int32(j)
}

// Push is for container/heap.
func (h *dueHeap) Push(x any) {
	d := x.(dueOffer)
	d.e.place = int32(len(*h))
	*h = append(*h, d)
}

// Pop is for container/heap.
func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	d := (*h)[last]
	(*h)[last] = dueOffer{}
	*h = (*h)[:last]
	d.e.place = -1
	return d
}

// schedule gives an offer the next moment at which the clock looks at it, if
// there is one.
func (s *Store) schedule(e *entry) {
	at := e.expires
	if s.config.Unseen > 0 && !s.seen(e) {
		if unseen := s.since(e.at.Add(s.config.Unseen)); at == 0 || unseen < at {
			at = unseen
		}
	}
	if at != 0 {
		heap.Push(&s.due, dueOffer{at, e})
	}
}

// arm makes the one timer fire in time for the first offer that is due. When an
// offer that the timer was set for is gone, it fires for nothing.
func (s *Store) arm() {
	if len(s.due) == 0 || s.closed {
		return
	}
	first := s.due[0].at
	if s.armed && s.armedFor <= first {
		return
	}
	s.armed, s.armedFor = true, first
	s.firing.Add(1)
	wait := time.Duration(first - s.since(time.Now()))
	switch {
	case s.timer == nil:
		s.timer = time.AfterFunc(wait, s.fire)
	case s.timer.Reset(wait):
		s.firing.Done() // for the time at which it does not fire any more
	}
}

// fire ends the offers that are due. The timer is armed again before anything is
// delivered, so a slow agent delays nobody else.
func (s *Store) fire() {
	defer s.firing.Done()
	s.mu.Lock()
	s.armed = false
	var ended []delivery
	for now := s.since(time.Now()); len(s.due) > 0 && s.due[0].at <= now; {
		e := heap.Pop(&s.due).(dueOffer).e
		switch {
		case e.expires != 0 && e.expires <= now:
			ended = append(ended, s.expire(e))
		case s.seen(e):
			s.schedule(e) // a surface was there in the meantime: it waits
		default:
			ended = append(ended, s.end(e, endNoSurface, cancelled))
		}
	}
	s.arm()
	s.mu.Unlock()
	deliverAll(ended)
}

func (s *Store) expire(e *entry) delivery {
	option := cancelled
	if e.reject {
		option, _ = e.deny.index()
	}
	return s.end(e, endExpired, option)
}

// since is a time in nanoseconds since the store was made, by the monotonic clock.
func (s *Store) since(t time.Time) int64 { return int64(t.Sub(s.epoch)) }
