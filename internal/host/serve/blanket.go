package serve

import (
	"context"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/task"
)

// Errors that keep blanket approval from those who may not answer offers themselves.
var (
	errMoreThanOwn = &dispatch.Error{Code: dispatch.CodeForbidden, Message: "that agent has blanket approval and yours does not: choose another one"}
	errNoAnswer    = &dispatch.Error{Code: dispatch.CodeForbidden, Message: "that agent has blanket approval: a token without the scope answer may not tell it what to do, so name another agent or use another token"}
)

// mayTell says whether somebody may have an agent do something. One with blanket
// approval does it unasked, so it is told by those alone who may answer offers and by
// agents with blanket approval of their own, whatever it works below.
func (s *Server) mayTell(o dispatch.Origin, agent Agent) error {
	if !agent.AutoApprove {
		return nil
	}
	if own, isTask := o.Identity(); isTask && !s.agentOf(task.ID(own.Task)).AutoApprove {
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

// message tells the agent of a task something, if the caller may.
func (s *Server) message(ctx context.Context, o dispatch.Origin, id task.ID, text string) (task.Task, error) {
	if s.reached(actor(o))(id) { // else it is refused below
		if err := s.mayTell(o, s.agentOf(id)); err != nil {
			return task.Task{}, err
		}
	}
	return s.tasks.Message(ctx, actor(o), id, text)
}
