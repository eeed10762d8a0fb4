package task

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/state"
)

// Spec is a task that somebody wants.
type Spec struct {
	Title string
	// Parent, empty for a task at the top. For a session it is its own task and may
	// be left out.
	Parent ID
	// Prompt, if it is to begin at once.
	Prompt           string
	Agent, Directory string
}

func (s Spec) check() error {
	if err := checkLine("the title", s.Title, MaxTitle); err != nil {
		return err
	}
	if s.Agent != "" {
		if err := checkLine("the name of the agent", s.Agent, maxName); err != nil {
			return err
		}
	}
	if s.Directory != "" {
		if err := checkLine("the directory", s.Directory, maxDirectory); err != nil {
			return err
		}
	}
	return checkLength("the prompt", s.Prompt, MaxText)
}

// Create makes a task and, if there is a prompt, begins it. A session makes tasks
// below its own only; a person who is limited to tasks needs one as the parent.
// When the agent cannot be prompted the task is there, failed, and given with the
// error.
func (s *Service) Create(ctx context.Context, who Actor, spec Spec) (Task, error) {
	spec.Title = strings.TrimSpace(spec.Title)
	if own, ok := who.(Session); ok && spec.Parent == "" {
		spec.Parent = own.Task
	}
	if err := s.mayCreate(who, spec.Parent); err != nil {
		return Task{}, err
	}
	if err := spec.check(); err != nil {
		return Task{}, err
	}
	if err := s.mayHaveChild(spec.Parent); err != nil {
		return Task{}, err
	}
	if err := s.makeRoom(ctx); err != nil {
		return Task{}, err
	}
	t, err := s.create(ctx, spec)
	if err != nil || spec.Prompt == "" {
		return t, err
	}
	return s.prompt(ctx, t.ID, spec.Prompt)
}

// mayCreate says whether somebody may make a task below another one.
func (s *Service) mayCreate(who Actor, parent ID) error {
	person, ok := who.(Person)
	if _, host := who.(Host); parent == "" && (host || ok) {
		if ok && person.Tasks != nil {
			return ErrForbidden // for every top: it would not see what it made
		}
		return allowed(who, dispatch.ScopeOperate)
	}
	_, err := s.acts(who, parent, dispatch.ScopeOperate, func(who Actor, id ID) bool {
		own, ok := who.(Session)
		return s.sees(who, id) && (!ok || own.Task == id)
	})
	return err
}

// newID makes an id that nobody can guess.
func newID() ID { return idPrefix + ID(strings.ToLower(rand.Text()[:idRandom])) }

const (
	idPrefix = "task-"
	idRandom = 16
)

// idForm is that of the ids that newID makes.
var idForm = regexp.MustCompile(fmt.Sprintf("^%s[a-z2-7]{%d}$", idPrefix, idRandom))

// WellFormed says whether an id can be that of a task at all.
func (id ID) WellFormed() bool { return idForm.MatchString(string(id)) }

// create stores the task and then adds it to its parent, which refuses if it has
// ended meanwhile. In this order no parent completes without knowing of a child.
func (s *Service) create(ctx context.Context, spec Spec) (Task, error) {
	at := now()
	t := Task{
		ID: newID(), Parent: spec.Parent, Title: spec.Title,
		State: Created, Agent: spec.Agent, Directory: spec.Directory, Created: at, Updated: at,
	}
	text, err := node{task: t}.encode()
	if err != nil {
		return Task{}, err
	}
	if err := s.mirror.Create(ctx, string(t.ID), text); err != nil {
		if errors.Is(err, state.ErrUnavailable) {
			err = errors.Join(err, s.unmake(context.WithoutCancel(ctx), t.ID, text))
		}
		return Task{}, fmt.Errorf("task: %w", err)
	}
	if t.Parent == "" {
		return t, nil
	}
	_, err = s.change(ctx, t.Parent, func(p *node) error {
		if err := p.adopts(); err != nil {
			return err
		}
		p.children = append(p.children, t.ID)
		return nil
	})
	if err != nil {
		return Task{}, errors.Join(err, s.forget(context.WithoutCancel(ctx), t.ID))
	}
	return t, nil
}

// unmake removes a task of which it is not known whether it was stored, and which its
// parent would know nothing of. It is stored once more: what may still be under way comes
// before that.
func (s *Service) unmake(ctx context.Context, id ID, text []byte) error {
	err := s.mirror.Create(ctx, string(id), text)
	if errors.Is(err, state.ErrConflict) {
		err = s.mirror.Refresh(ctx, string(id))
	}
	if err != nil { // the next start drops it
		return err
	}
	return s.forget(ctx, id)
}

// adopts says whether a task can have one more child.
func (n *node) adopts() error {
	if n.task.State.Ended() {
		return ErrEnded
	}
	if len(n.children) >= MaxChildren {
		return full(fmt.Sprintf("the task has %d tasks below it already: no more can be created", MaxChildren))
	}
	return nil
}

// mayHaveChild is the same before anything is stored, and the bound of the depth.
func (s *Service) mayHaveChild(parent ID) error {
	if parent == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.tasks[parent]
	if !ok {
		return ErrNotFound
	}
	if err := n.adopts(); err != nil {
		return err
	}
	depth := 1
	for up := n; ok && depth <= MaxDepth; depth++ {
		up, ok = s.tasks[up.task.Parent]
	}
	if depth > MaxDepth {
		return full(fmt.Sprintf("the task is %d levels deep: no more can be created below it", MaxDepth))
	}
	return nil
}

// dropUnborn removes what was stored and not added to its parent when the server
// ended: nobody was told that it exists.
func (s *Service) dropUnborn(ctx context.Context) error {
	s.mu.Lock()
	var unborn []ID
	for id, n := range s.tasks {
		if p, ok := s.tasks[n.task.Parent]; ok && n.task.State == Created && !slices.Contains(p.children, id) {
			unborn = append(unborn, id)
		}
	}
	s.mu.Unlock()
	var errs []error
	for _, id := range unborn {
		errs = append(errs, s.forget(ctx, id))
	}
	return errors.Join(errs...)
}

// forget removes a task from the store.
func (s *Service) forget(ctx context.Context, id ID) error {
	for {
		s.mu.Lock()
		n, ok := s.tasks[id]
		s.mu.Unlock()
		if !ok {
			return nil
		}
		err := s.mirror.Delete(ctx, string(id), n.revision)
		if errors.Is(err, state.ErrConflict) {
			if err = s.mirror.Refresh(ctx, string(id)); err == nil {
				continue
			}
		}
		if err == nil || errors.Is(err, state.ErrNotFound) {
			return nil
		}
		return fmt.Errorf("task: %w", err)
	}
}
