package serve

import (
	"context"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/mcptools"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/state"
	"github.com/kandev/assent/internal/host/task"
)

// action is an action whose payload is an In.
func action[In any](name, doc string, scope dispatch.Scope, handle func(context.Context, dispatch.Origin, In) (any, error)) dispatch.Action {
	return dispatch.Action{
		Name: name, Doc: doc, Schema: mcptools.Schema[In](), Internal: dispatch.Internal(name), Scope: scope,
		Handler: func(ctx context.Context, o dispatch.Origin, payload jsontext.Value) (any, error) {
			var in In
			if json.Unmarshal(payload, &in, json.RejectUnknownMembers(true)) != nil { // its text would quote the payload
				return nil, &dispatch.Error{Code: dispatch.CodeInvalidPayload, Message: "the payload does not fit the schema of the action"}
			}
			result, err := handle(ctx, o, in)
			return result, failure(err)
		},
	}
}

// register registers everything that the daemon does.
func (s *Server) register() error {
	for _, list := range [][]dispatch.Action{s.taskActions(), s.permissionActions(), s.questionActions(), s.internalActions()} {
		for _, a := range list {
			if err := s.dispatcher.Register(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// actor is who asks, as the tasks know it. It comes from the origin alone; of nobody
// it is nil, which may do nothing.
func actor(o dispatch.Origin) task.Actor {
	if id, ok := o.Identity(); ok {
		return task.Session{Task: task.ID(id.Task)}
	}
	if p, ok := o.Person(); ok {
		return task.Person(p)
	}
	if _, ok := o.Component(); ok {
		return task.Host{}
	}
	return nil
}

// codes are those of errors of other packages.
var codes = []struct {
	err  error
	code dispatch.Code
}{
	{task.ErrNotFound, dispatch.CodeNotFound},
	{task.ErrForbidden, dispatch.CodeForbidden},
	{task.ErrEnded, dispatch.CodeConflict},
	{task.ErrChildren, dispatch.CodeConflict},
	{task.ErrFull, dispatch.CodeConflict},
	{task.ErrAnswered, dispatch.CodeConflict},
	{task.ErrGone, dispatch.CodeStale},
	{task.ErrInvalid, dispatch.CodeInvalidPayload},
	{task.ErrStays, dispatch.CodeUnavailable},
	{state.ErrRefused, dispatch.CodeUnavailable},
	{state.ErrUnavailable, dispatch.CodeUnavailable},
}

// failure gives an error its code. Those of the packages above hold nothing of a
// payload; any other one is left to the dispatcher, which hides its text.
func failure(err error) error {
	if err == nil {
		return nil
	}
	if known := (*dispatch.Error)(nil); errors.As(err, &known) {
		return known
	}
	if answer := (pending.Error{}); errors.As(err, &answer) {
		return &dispatch.Error{Code: dispatch.Code(answer.Code), Message: strings.TrimPrefix(answer.Error(), "pending: ")}
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			text := err.Error()
			if c.err == task.ErrStays || errors.Is(err, state.ErrUnavailable) { // what they wrap, alone or joined to others, may be anything
				text = c.err.Error()
			}
			return &dispatch.Error{Code: c.code, Message: strings.TrimPrefix(strings.TrimPrefix(text, "task: "), "state: ")}
		}
	}
	return err
}

// stateResult says what became of a stop or an interrupt.
type stateResult struct {
	State task.Outcome `json:"state"`
}
