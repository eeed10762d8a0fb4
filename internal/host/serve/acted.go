package serve

import (
	"context"
	"slices"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/task"
)

// surfaceAgent is the surface of an agent that acts on a task below its own.
const surfaceAgent = "agent"

// acted writes into the audit who did something to a task.
func (s *Server) acted(o dispatch.Origin, event audit.Event, of task.ID) {
	r := audit.Record{Event: event, Task: string(of)}
	if p, ok := o.Person(); ok {
		r.By, r.Surface = p.Name, p.Surface
	} else if id, ok := o.Identity(); ok {
		r.By, r.Surface = id.Task, surfaceAgent
	}
	s.audit.Append(r)
	s.log.Info("somebody acted on a task", "what", event, "task", of, "by", r.By, "surface", r.Surface)
}

// stopTask ends a task for somebody.
func (s *Server) stopTask(ctx context.Context, o dispatch.Origin, id task.ID) (any, error) {
	outcome, err := s.tasks.Stop(ctx, actor(o), id)
	if outcome == task.OutcomeStopped {
		s.acted(o, audit.Stop, id)
	}
	return stateResult{outcome}, err
}

// interruptTask cancels the turn of a task for somebody.
func (s *Server) interruptTask(ctx context.Context, o dispatch.Origin, in taskPayload) (any, error) {
	outcome, err := s.tasks.Interrupt(ctx, actor(o), in.Task)
	if outcome == task.OutcomeStopped {
		s.acted(o, audit.Interrupt, in.Task)
	}
	return stateResult{outcome}, err
}

// answerQuestion answers a question for a person.
func (s *Server) answerQuestion(_ context.Context, o dispatch.Origin, in questionPayload) (any, error) {
	open, err := s.tasks.Questions(task.Host{})
	if err != nil {
		return nil, err
	}
	if err := s.tasks.Answer(actor(o), in.Question, in.Answer); err != nil {
		return nil, err
	}
	if n := slices.IndexFunc(open, func(q task.Question) bool { return q.ID == in.Question }); n >= 0 {
		s.acted(o, audit.Question, open[n].Task)
	}
	return answeredResult{Answered: true}, nil
}
