package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/state"
)

// Outcome of a stop or an interrupt.
type Outcome string

// The outcomes. Both are a success.
const (
	OutcomeStopped    Outcome = "stopped"
	OutcomeNotRunning Outcome = "not_running"
)

// stopWithin bounds a stop, with all tasks below: an agent may take its time to end.
const stopWithin = 5 * time.Minute

// Stop ends a task and every task below it for good, and waits for their agents, for
// all at the same time.
// Among sessions the direct parent alone may do this. [OutcomeNotRunning]: the task
// and all below it had ended before, and no agent of them was there any more.
// Agents end even when nothing can be stored. It goes on
// when ctx ends, since half a stop would leave agents running, but at most
// [stopWithin]. After an error it can be called again; [OutcomeStopped] beside it says
// that something has ended, or may be stored so, all the same.
func (s *Service) Stop(ctx context.Context, who Actor, id ID) (Outcome, error) {
	if _, err := s.acts(who, id, dispatch.ScopeOperate, s.rules); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	return s.stop(ctx, id, MaxDepth)
}

// stop ends a tree of tasks.
func (s *Service) stop(ctx context.Context, id ID, levels int) (Outcome, error) {
	st := &stopping{s: s, marks: make(chan struct{}, marksAtOnce), outcome: OutcomeNotRunning}
	st.all.Go(func() { st.tree(ctx, id, levels) })
	st.all.Wait()
	return st.outcome, errors.Join(st.errs...)
}

// marksAtOnce bounds the tasks of a tree that are stored at once: each is synced.
const marksAtOnce = 16

// stopping is the stop of a tree of tasks.
type stopping struct {
	s     *Service
	all   sync.WaitGroup
	marks chan struct{} // one for each task that is being stored as stopped

	mu      sync.Mutex
	outcome Outcome
	errs    []error
}

// tree stores that a task is stopped, so that nothing new comes below it, and then ends
// its agent and those below it at the same time: one that takes its time to end keeps no
// other going. What is stored can be damaged, so the way down is bounded.
func (st *stopping) tree(ctx context.Context, id ID, levels int) {
	below := sync.OnceFunc(func() {
		if levels == 1 {
			return
		}
		for _, child := range st.s.childrenOf(id) {
			st.all.Go(func() { st.tree(ctx, child, levels-1) })
		}
	})
	outcome, err := st.one(ctx, id, below)
	below()
	st.mu.Lock()
	defer st.mu.Unlock()
	st.errs = append(st.errs, err)
	if outcome == OutcomeStopped {
		st.outcome = outcome
	}
}

// one ends one task and its agent. Marked is called once the task is stored as stopped,
// or cannot be.
func (st *stopping) one(ctx context.Context, id ID, marked func()) (Outcome, error) {
	s := st.s
	leave, err := s.gates.enter(ctx, id)
	if err != nil {
		return "", fmt.Errorf("task: %w", err)
	}
	defer leave()
	known, err := s.Get(Host{}, id)
	if err != nil {
		return "", err
	}
	t, outcome, err := st.mark(ctx, id)
	marked()
	if err != nil { // its agent ends all the same: the disk may be full of what it writes
		t = known
	}
	ended, stopErr := s.endAgent(ctx, t)
	if ended {
		outcome = OutcomeStopped
	}
	return outcome, errors.Join(err, stopErr)
}

// mark stores that a task is stopped, unless it has ended. The outcome beside an error is
// what was to be stored: nobody knows whether it was.
func (st *stopping) mark(ctx context.Context, id ID) (t Task, outcome Outcome, err error) {
	st.marks <- struct{}{}
	defer func() { <-st.marks }()
	t, err = st.s.change(ctx, id, func(n *node) error {
		outcome = OutcomeNotRunning
		if !n.task.State.Ended() {
			outcome = OutcomeStopped
			n.task.State, n.task.Instance = Stopped, ""
		}
		return nil
	})
	return t, outcome, err
}

// endAgent ends the agent of a task, and says whether there was one: one of a task that
// ended by itself can still be there.
func (s *Service) endAgent(ctx context.Context, t Task) (ended bool, err error) {
	if ended, err = s.runner.Stop(ctx, t); err != nil {
		return ended, fmt.Errorf("%w: %w", ErrStays, err)
	}
	return ended, nil
}

// childrenOf lists the children that are not forgotten.
func (s *Service) childrenOf(id ID) []ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.tasks[id].children), func(child ID) bool {
		_, ok := s.tasks[child]
		return !ok
	})
}

// Interrupt cancels the turn of a task, which goes on to exist, also of one that has
// ended and whose agent goes on. Who may stop a task may do this.
func (s *Service) Interrupt(ctx context.Context, who Actor, id ID) (Outcome, error) {
	if _, err := s.acts(who, id, dispatch.ScopeOperate, s.rules); err != nil {
		return "", err
	}
	leave, err := s.gates.enter(ctx, id)
	if err != nil {
		return "", fmt.Errorf("task: %w", err)
	}
	defer leave()
	t, err := s.Get(Host{}, id)
	if err != nil {
		return "", err
	}
	running, err := s.runner.Interrupt(ctx, t)
	if err != nil {
		return "", fmt.Errorf("task: the turn was not cancelled: %w", err)
	}
	if !running {
		return OutcomeNotRunning, nil
	}
	return OutcomeStopped, nil
}

// Complete ends a task by its own session, with a summary of what was done:
// [ErrEnded] when it has ended before, [ErrChildren] while a task below it has not.
func (s *Service) Complete(ctx context.Context, who Actor, summary string) (Task, error) {
	own, ok := who.(Session)
	if !ok {
		return Task{}, ErrForbidden
	}
	if _, err := s.acts(who, own.Task, dispatch.ScopeOperate, s.sees); err != nil {
		return Task{}, err
	}
	if err := checkText("the summary", summary, MaxSummary); err != nil {
		return Task{}, err
	}
	leave, err := s.gates.enter(ctx, own.Task)
	if err != nil {
		return Task{}, fmt.Errorf("task: %w", err)
	}
	defer leave()
	return s.change(ctx, own.Task, func(n *node) error {
		if n.task.State.Ended() {
			return ErrEnded
		}
		if err := s.allEnded(ctx, n.children); err != nil {
			return err
		}
		n.task.State, n.task.Summary, n.task.Instance = Completed, summary, ""
		return nil
	})
}

// allEnded reads what is stored of children that have not ended as far as is known.
func (s *Service) allEnded(ctx context.Context, children []ID) error {
	for _, id := range children {
		n, err := s.fresh(ctx, id)
		if err != nil {
			return err
		}
		if !n.task.State.Ended() {
			return ErrChildren
		}
	}
	return nil
}

// fresh is a task that has ended, or else as it is stored. One that is forgotten
// had ended.
func (s *Service) fresh(ctx context.Context, id ID) (node, error) {
	for read := false; ; read = true {
		s.mu.Lock()
		n, ok := s.tasks[id]
		s.mu.Unlock()
		if ok && n.task.State.Ended() || read {
			return n, nil
		}
		err := s.mirror.Refresh(ctx, string(id))
		if errors.Is(err, state.ErrNotFound) {
			return node{task: Task{State: Stopped}}, nil
		}
		if err != nil {
			return node{}, fmt.Errorf("task: %w", err)
		}
	}
}
