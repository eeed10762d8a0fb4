package serve

import (
	"context"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/task"
)

// Errors that keep blanket approval from those who may not answer offers themselves.
var (
	errMoreThanOwn = &dispatch.Error{Code: dispatch.CodeForbidden, Message: "that agent has blanket approval and yours does not: choose another one"}
	errNoAnswer    = &dispatch.Error{Code: dispatch.CodeForbidden, Message: "that agent has blanket approval: a token without the scope answer may not tell it what to do"}
)

// mayTell says whether somebody may have an agent with blanket approval do something:
// who may answer offers, and who is known to a task (above) with blanket approval.
func mayTell(o dispatch.Origin, agent, above Agent) error {
	if !agent.AutoApprove || above.AutoApprove {
		return nil
	}
	if _, isTask := o.Identity(); isTask {
		return errMoreThanOwn
	}
	if p, ok := o.Person(); ok && !p.Scopes.Has(dispatch.ScopeAnswer) {
		return errNoAnswer
	}
	return nil
}

// agentOf is the agent of a task; one without blanket approval for no task.
func (s *Server) agentOf(id task.ID) Agent {
	t, err := s.tasks.Get(task.Host{}, id)
	if err != nil {
		return Agent{}
	}
	_, agent, _ := s.config.agent(t.Agent)
	return agent
}

// message tells the agent of a task something, if the caller could have made the task.
func (s *Server) message(ctx context.Context, o dispatch.Origin, id task.ID, text string) (task.Task, error) {
	if s.reached(actor(o))(id) { // else it is refused below
		t, err := s.tasks.Get(task.Host{}, id)
		if err != nil { // forgotten just now
			return task.Task{}, err
		}
		above := t.Parent
		if own, isTask := o.Identity(); isTask {
			above = task.ID(own.Task)
		}
		if err := mayTell(o, s.agentOf(id), s.agentOf(above)); err != nil {
			return task.Task{}, err
		}
	}
	return s.tasks.Message(ctx, actor(o), id, text)
}
