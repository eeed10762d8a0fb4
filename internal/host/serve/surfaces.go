package serve

import (
	"context"
	"maps"
	"sync"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/task"
)

// surfaces remembers for which offers somebody was ever there to answer them.
type surfaces struct {
	store   *pending.Store
	reaches func(p dispatch.Person, watched, of task.ID) bool
	running func() map[pending.InstanceID]task.ID

	mu      sync.Mutex
	limited map[looking]dispatch.Person
}

// looking is who looks at a part of the tasks: a token, by its name, that is limited to
// some or (Task) watches one and those below it.
type looking struct {
	name string
	task task.ID
}

// everywhere says that offers of all tasks reach somebody.
func (s *surfaces) everywhere() { s.store.Attach(pending.Scope{}) }

// told says that somebody was told of an offer, by the webhook: they come, and find what
// its instance asks for.
func (s *surfaces) told(offer offerView) {
	if _, runs := s.running()[offer.Instance]; runs {
		s.store.Attach(pending.Scope{Instance: offer.Instance})
	}
}

// watches says that a person is there who is shown offers, of those tasks that the
// person reaches below the watched one, or of all (empty). Who may not answer is nobody
// that an offer could wait for. Ctx is that of the request: it ends with the token.
func (s *surfaces) watches(ctx context.Context, p dispatch.Person, watched task.ID) {
	if !p.Scopes.Has(dispatch.ScopeAnswer) {
		return
	}
	if p.Tasks == nil && watched == "" {
		s.everywhere()
		return
	}
	s.mu.Lock()
	if ctx.Err() != nil { // drop may have been before
		s.mu.Unlock()
		return
	}
	s.limited[looking{p.Name, watched}] = p
	s.mu.Unlock()
	for id, of := range s.running() {
		if s.reaches(p, watched, of) {
			s.store.Attach(pending.Scope{Instance: id})
		}
	}
}

// instance takes in a new instance of a task.
func (s *surfaces) instance(id pending.InstanceID, of task.ID) {
	s.mu.Lock()
	limited := maps.Clone(s.limited)
	s.mu.Unlock()
	for l, p := range limited {
		if s.reaches(p, l.task, of) {
			s.store.Attach(pending.Scope{Instance: id})
		}
	}
}

// forget forgets who watched tasks that are gone.
func (s *surfaces) forget(gone func(task.ID) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.limited, func(l looking, _ dispatch.Person) bool { return l.task != "" && gone(l.task) })
}

// drop forgets a token, which is deleted or other than before, once the requests of the
// old one have ended: nobody looks with it any more.
func (s *surfaces) drop(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.limited, func(l looking, _ dispatch.Person) bool { return l.name == name })
}
