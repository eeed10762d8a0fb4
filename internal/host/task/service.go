package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/state"
)

// Options of a [Service].
type Options struct {
	// Runner runs the agents. It is not called before [New] returns.
	Runner Runner
	// Logger, nil for none. Of tasks only ids are logged.
	Logger *slog.Logger
}

// Service is the tasks of a store. It is safe for concurrent use.
type Service struct {
	runner Runner
	log    *slog.Logger
	mirror *state.Mirror
	gates  gates

	mu        sync.Mutex
	loading   bool // what comes was stored before this run
	tasks     map[ID]node
	resume    map[ID]bool
	questions questions
	watchers  map[*watcher]struct{}
	closed    bool
}

// New reads the tasks of a store, which stays open after [Service.Close].
func New(ctx context.Context, s *state.State, o Options) (*Service, error) {
	bucket, err := s.Bucket(ctx, "tasks")
	if err != nil {
		return nil, err
	}
	return open(ctx, bucket, o)
}

func open(ctx context.Context, bucket *state.Bucket, o Options) (*Service, error) {
	if o.Runner == nil {
		return nil, errors.New("task: there is no runner")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Service{
		runner: o.Runner, log: o.Logger, loading: true,
		gates: gates{held: map[ID]*gate{}},
		tasks: map[ID]node{}, resume: map[ID]bool{}, questions: newQuestions(), watchers: map[*watcher]struct{}{},
	}
	mirror, err := bucket.Mirror(ctx, s.apply)
	if err != nil {
		return nil, err
	}
	s.mirror = mirror
	s.mu.Lock()
	s.loading = false
	s.mu.Unlock()
	if err := s.dropUnborn(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends all questions and watches. Tasks stay as they are.
func (s *Service) Close() {
	s.mirror.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.endQuestions(func(Question) bool { return true })
	for w := range s.watchers {
		delete(s.watchers, w)
		close(w.events)
	}
}

// apply takes what the store says. The mirror calls it in the order of revisions.
func (s *Service) apply(c state.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := ID(c.Entry.Key)
	if c.Kind == state.Deleted {
		if n, ok := s.tasks[id]; ok {
			delete(s.tasks, id)
			delete(s.resume, id)
			s.tell(Event{Kind: Forgotten, Task: n.task, Above: s.above(n.task.Parent)})
		}
		return
	}
	n, err := decode(c.Entry.Key, c.Entry.Value)
	if err != nil {
		s.log.Error("a stored task cannot be read; it is left out", "task", id, "error", err)
		delete(s.tasks, id)
		return
	}
	n.revision = c.Entry.Revision
	s.tasks[id] = n
	if s.loading && (n.task.State == Running || n.task.State == Waiting) {
		s.resume[id] = true
	}
	if n.task.State.Ended() {
		delete(s.resume, id)
		s.endQuestions(func(q Question) bool { return q.Task == id })
	}
	s.tell(Event{Kind: Changed, Task: s.view(n)})
}

// view is a task as it is shown: with what is not stored.
func (s *Service) view(n node) Task {
	t := n.task
	t.Resume = s.resume[t.ID]
	switch {
	case t.State == Waiting && t.Resume:
		t.State = Running // what it waited for is gone
	case t.State == Running && s.questions.ofTask(t.ID) > 0:
		t.State = Waiting
	}
	return t
}

// change edits a stored task. The edit can be called several times, each time
// with what is newest; an error of it changes nothing.
func (s *Service) change(ctx context.Context, id ID, edit func(*node) error) (Task, error) {
	for {
		s.mu.Lock()
		old, ok := s.tasks[id]
		s.mu.Unlock()
		if !ok {
			return Task{}, ErrNotFound
		}
		n := old.clone()
		if err := edit(&n); err != nil {
			return Task{}, err
		}
		if !n.equal(old) {
			n.task.Updated = now()
		}
		err := s.write(ctx, old, n)
		if errors.Is(err, state.ErrConflict) {
			err = s.mirror.Refresh(ctx, string(id))
			if err == nil {
				continue
			}
		}
		switch {
		case errors.Is(err, state.ErrNotFound):
			return Task{}, ErrNotFound
		case err != nil:
			return Task{}, fmt.Errorf("task: %w", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.view(n), nil
	}
}

func (s *Service) write(ctx context.Context, old, n node) error {
	if n.equal(old) {
		return nil
	}
	text, err := n.encode()
	if err != nil {
		return err
	}
	return s.mirror.Update(ctx, string(n.task.ID), text, old.revision)
}

// now is as exact as a time that was stored.
func now() time.Time { return time.Now().UTC().Round(0) }

// List gives the tasks that the caller sees, oldest first.
func (s *Service) List(who Actor) ([]Task, error) {
	if err := allowed(who, dispatch.ScopeView); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if own, ok := who.(Session); ok && !s.sees(who, own.Task) {
		return nil, ErrNotFound
	}
	list := []Task{}
	for id, n := range s.tasks {
		if s.sees(who, id) {
			list = append(list, s.view(n))
		}
	}
	slices.SortFunc(list, func(a, b Task) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// Get gives one task that the caller sees.
func (s *Service) Get(who Actor, id ID) (Task, error) {
	if err := allowed(who, dispatch.ScopeView); err != nil {
		return Task{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.sees(who, id) {
		return Task{}, ErrNotFound
	}
	return s.view(s.tasks[id]), nil
}
