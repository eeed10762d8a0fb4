package task

import (
	"context"
	"fmt"

	"github.com/kandev/assent/internal/host/dispatch"
)

// Message gives a task a text: a turn begins with it, or the next one does when
// one is under way. A session sends to tasks that it sees, except its own, and the
// text begins with a line that says whose it is.
func (s *Service) Message(ctx context.Context, who Actor, id ID, text string) (Task, error) {
	_, err := s.acts(who, id, dispatch.ScopeOperate, func(who Actor, id ID) bool {
		own, ok := who.(Session)
		return s.sees(who, id) && (!ok || own.Task != id)
	})
	if err != nil {
		return Task{}, err
	}
	if err := checkText("the text", text, MaxText); err != nil {
		return Task{}, err
	}
	if own, ok := who.(Session); ok { // the agent knows only its own user
		text = fmt.Sprintf("Message from task %s:\n%s", own.Task, text)
	}
	return s.prompt(ctx, id, text)
}

// prompt hands a text over to the task's agent. That it runs is stored before.
func (s *Service) prompt(ctx context.Context, id ID, text string) (Task, error) {
	leave, err := s.gates.enter(ctx, id)
	if err != nil {
		return Task{}, fmt.Errorf("task: %w", err)
	}
	defer leave()
	var before State
	t, err := s.change(ctx, id, func(n *node) error {
		before = n.task.State
		switch {
		case before.Ended():
			return ErrEnded
		case before == Created || before == Idle:
			n.task.State = Running
		}
		return nil
	})
	if err != nil {
		return Task{}, err
	}
	if err := s.runner.Prompt(ctx, t, text); err != nil {
		return s.notPrompted(ctx, id, before, err)
	}
	return t, nil
}

// notPrompted takes back that a task runs. One that never ran has failed.
func (s *Service) notPrompted(ctx context.Context, id ID, before State, cause error) (Task, error) {
	t, err := s.change(context.WithoutCancel(ctx), id, func(n *node) error {
		switch {
		case n.task.State != Running:
		case before == Created:
			n.task.State, n.task.Instance = Failed, ""
		default:
			n.task.State = before
		}
		return nil
	})
	if err != nil {
		s.log.Error("a task whose agent was not prompted is stored as running", "task", id, "error", err)
	}
	return t, fmt.Errorf("task: the agent was not prompted: %w", cause)
}

// Report is what the host says of a task's agent.
type Report struct {
	// State is [Running], [Waiting], [Idle] or [Failed].
	State State
	// Instance works on it now; empty: none.
	Instance string
	// Session is the agent's name of the session; empty: as before.
	Session string
	// Note is what the host has to say about the task; empty: nothing.
	Note string
}

// Check says what is wrong with a report, which is then never stored.
func (r Report) Check() error {
	if r.State != Running && r.State != Waiting && r.State != Idle && r.State != Failed {
		return invalid("a report says running, waiting, idle or failed")
	}
	for what, name := range map[string]string{"the instance": r.Instance, "the session": r.Session} {
		if err := checkLength(what, name, maxName); err != nil {
			return err
		}
	}
	return checkLength("the note", r.Note, maxNote)
}

// Report stores what became of a task's agent. Only the host reports. A task that
// has ended stays as it is, which is no error.
func (s *Service) Report(ctx context.Context, who Actor, id ID, r Report) (Task, error) {
	if _, ok := who.(Host); !ok {
		return Task{}, ErrForbidden
	}
	if err := r.Check(); err != nil {
		return Task{}, err
	}
	t, err := s.change(ctx, id, func(n *node) error {
		if n.task.State.Ended() {
			return nil
		}
		n.task.State, n.task.Instance, n.task.Note = r.State, r.Instance, r.Note
		if r.Session != "" {
			n.task.Session = r.Session
		}
		if r.State == Failed {
			n.task.Instance = ""
		}
		return nil
	})
	if err == nil && t.Resume {
		t = s.resumed(id)
	}
	return t, err
}

// resumed says that the host has dealt with a task that ran when the server ended.
func (s *Service) resumed(id ID) Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.resume, id)
	t := s.view(s.tasks[id])
	s.tell(Event{Kind: Changed, Task: t})
	return t
}
