package serve

import (
	"sync"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/task"
)

// surfaces remembers for which offers somebody was ever there to see them.
type surfaces struct {
	store   *pending.Store
	visible func(dispatch.Person, task.ID) bool
	running func() map[pending.InstanceID]task.ID

	mu      sync.Mutex
	limited map[string]dispatch.Person // by the token's name
}

// everywhere says that offers of all tasks reach somebody.
func (s *surfaces) everywhere() { s.store.Attach(pending.Scope{}) }

// watches says that a person is there who is shown offers, of some tasks or of all.
func (s *surfaces) watches(p dispatch.Person) {
	if p.Tasks == nil {
		s.everywhere()
		return
	}
	s.mu.Lock()
	s.limited[p.Name] = p
	s.mu.Unlock()
	for id, of := range s.running() {
		if s.visible(p, of) {
			s.store.Attach(pending.Scope{Instance: id})
		}
	}
}

// instance takes in a new instance of a task.
func (s *surfaces) instance(id pending.InstanceID, of task.ID) {
	s.mu.Lock()
	people := make([]dispatch.Person, 0, len(s.limited))
	for _, p := range s.limited {
		people = append(people, p)
	}
	s.mu.Unlock()
	for _, p := range people {
		if s.visible(p, of) {
			s.store.Attach(pending.Scope{Instance: id})
		}
	}
}
