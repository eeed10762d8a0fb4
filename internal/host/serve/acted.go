package serve

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/task"
)

// surfaceAgent is the surface of an agent that acts on a task below its own.
const surfaceAgent = "agent"

// acted writes into the audit who did something to a task, and waits until that is in the
// file: what is acknowledged is not lost.
func (s *Server) acted(ctx context.Context, o dispatch.Origin, event audit.Event, of task.ID) error {
	r := audit.Record{Event: event, Task: string(of)}
	if p, ok := o.Person(); ok {
		r.By, r.Surface = p.Name, p.Surface
	} else if id, ok := o.Identity(); ok {
		r.By, r.Surface = id.Task, surfaceAgent
	}
	before := s.audit.Stats()
	s.audit.Append(r)
	s.tellActed(o, event, of)
	s.log.Info("somebody acted on a task", "what", event, "task", of, "by", r.By, "surface", r.Surface)
	ctx, cancel := context.WithTimeout(ctx, recordWithin)
	defer cancel()
	err := s.audit.Flush(ctx, before)
	switch {
	case errors.Is(err, audit.ErrDropped):
		s.log.Error("somebody acted on a task and its audit record may be lost", "task", of, "error", err)
		return errActLost
	case err != nil:
		s.log.Warn("somebody acted on a task before its audit record was written", "task", of, "error", err)
		return errActNotRecorded
	}
	return nil
}

// tellActed tells people that somebody did something to a task.
func (s *Server) tellActed(o dispatch.Origin, what audit.Event, of task.ID) {
	v := actedView{Task: of, What: what, Time: time.Now().UTC(), By: pending.Responder{Surface: surfaceAgent}}
	if p, ok := o.Person(); ok {
		v.By = pending.Responder{Name: p.Name, Surface: p.Surface}
	}
	s.acts.add(of, &v, &v.Number)
	s.publish("acted", of, v)
}

// errActNotRecorded says that something was done and the audit file does not say it yet.
var errActNotRecorded = &dispatch.Error{
	Code:    dispatch.CodeUnavailable,
	Message: "it was done, but its audit record is not written yet: the disk is slow or full; the record is written once there is room",
}

// errActLost says that something was done and the audit file will not say it.
var errActLost = &dispatch.Error{
	Code:    dispatch.CodeInternal,
	Message: "it was done, but its audit record may be lost: the disk could not keep up, and the file says where records are missing",
}

// stopTask ends a task for somebody. What was done of it is recorded also when the rest
// failed, and why that failed comes first.
func (s *Server) stopTask(ctx context.Context, o dispatch.Origin, id task.ID) (any, error) {
	outcome, err := s.tasks.Stop(ctx, actor(o), id)
	if outcome == task.OutcomeStopped {
		if unrecorded := s.acted(ctx, o, audit.Stop, id); err == nil {
			err = unrecorded
		}
	}
	return stateResult{outcome}, err
}

// interruptTask cancels the turn of a task for somebody.
func (s *Server) interruptTask(ctx context.Context, o dispatch.Origin, in taskPayload) (any, error) {
	outcome, err := s.tasks.Interrupt(ctx, actor(o), in.Task)
	if outcome == task.OutcomeStopped {
		err = s.acted(ctx, o, audit.Interrupt, in.Task)
	}
	return stateResult{outcome}, err
}

// answerQuestion answers a question for a person.
func (s *Server) answerQuestion(ctx context.Context, o dispatch.Origin, in questionPayload) (any, error) {
	open, err := s.tasks.Questions(task.Host{})
	if err != nil {
		return nil, err
	}
	if err := s.tasks.Answer(actor(o), in.Question, in.Answer); err != nil {
		return nil, err
	}
	if n := slices.IndexFunc(open, func(q task.Question) bool { return q.ID == in.Question }); n >= 0 {
		if err := s.acted(ctx, o, audit.Question, open[n].Task); err != nil {
			return nil, err
		}
	}
	return answeredResult{Answered: true}, nil
}
