package serve

import (
	"maps"
	"sync"

	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/task"
	"github.com/kandev/assent/pipeline"
)

// knownOffer is what the store does not know of an offer.
type knownOffer struct {
	instance pending.InstanceID
	task     task.ID
	agent    string
	trace    pipeline.Trace
	action   pending.Action // redacted; while it is open
	seen     bool           // people were told of it
	over     *offerOver
}

// offerOver is told when an offer is over: its record has been appended to the audit.
type offerOver struct {
	done chan struct{} // closed then
	sent bool          // the answer is on its way to the agent; set before
}

// rememberedOffers is how many ended offers are known by their ids, so that a late
// answer is told what became of them: as many as the store remembers.
const rememberedOffers = pending.DefaultTombstones

// offerBook knows whose offers are.
type offerBook struct {
	mu    sync.Mutex
	known map[pending.RequestID]knownOffer
	ended []pending.RequestID // oldest first
}

func newOfferBook() *offerBook { return &offerBook{known: map[pending.RequestID]knownOffer{}} }

func (b *offerBook) add(id pending.RequestID, o knownOffer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known[id] = o
}

// shown notes that people are told of an offer, and what it is about.
func (b *offerBook) shown(id pending.RequestID, a pending.Action) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if o, ok := b.known[id]; ok {
		o.action, o.seen = a, true
		b.known[id] = o
	}
}

// end lets an offer be forgotten, later.
func (b *offerBook) end(id pending.RequestID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.known[id]
	o.trace, o.action = pipeline.Trace{}, pending.Action{}
	b.known[id] = o
	b.ended = append(b.ended, id)
	if len(b.ended) > rememberedOffers {
		delete(b.known, b.ended[0])
		b.ended = b.ended[1:]
	}
}

func (b *offerBook) find(id pending.RequestID) (knownOffer, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o, ok := b.known[id]
	return o, ok
}

// ring keeps the last values, and numbers those of each task: who gets the state and is
// told of a value of it at the same time knows by the number that it is the same. Numbers
// across tasks would tell who may see one how much happens in the others.
type ring[T any] struct {
	mu      sync.Mutex
	values  []T
	most    int
	numbers map[task.ID]uint64 // the last one of each task
}

func newRing[T any](most int) *ring[T] { return &ring[T]{most: most, numbers: map[task.ID]uint64{}} }

// add numbers a value of a task, in a member of it, and keeps it.
func (r *ring[T]) add(of task.ID, v *T, number *uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.numbers[of]++
	*number = r.numbers[of]
	if len(r.values) == r.most {
		r.values = append(r.values[:0:0], r.values[1:]...)
	}
	r.values = append(r.values, *v)
}

// forget forgets the numbers of tasks that are gone.
func (r *ring[T]) forget(gone func(task.ID) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.numbers, func(of task.ID, _ uint64) bool { return gone(of) })
}

// all are the values, oldest first, that somebody may see.
func (r *ring[T]) all(visible func(T) bool) []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := []T{}
	for _, v := range r.values {
		if visible(v) {
			list = append(list, v)
		}
	}
	return list
}
