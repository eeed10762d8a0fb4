package pagetest

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/pending"
)

// actions registers what the page asks.
func (s *stand) actions(d *dispatch.Dispatcher) {
	s.Helper()
	register(s, d, "state.watch", dispatch.ScopeView, func(watchPayload, dispatch.Origin) (any, error) { return s.whole(), nil })
	register(s, d, "question.list", dispatch.ScopeView, func(struct{}, dispatch.Origin) (any, error) {
		return map[string]any{"questions": s.state.Questions}, nil
	})
	register(s, d, "permission.detail", dispatch.ScopeAnswer, func(p offerPayload, _ dispatch.Origin) (any, error) {
		found, err := s.store.Detail(s.key(p))
		return detailOf(found), wireError(err)
	})
	register(s, d, "permission.resolve", dispatch.ScopeAnswer, func(p resolvePayload, o dispatch.Origin) (any, error) {
		person, _ := o.Person()
		err := s.store.Resolve(s.key(p.offerPayload), p.Answer.pending(), pending.Responder{Name: person.Name, Surface: person.Surface})
		return map[string]bool{"answered": true}, wireError(err)
	})
	register(s, d, "question.answer", dispatch.ScopeAnswer, func(p questionPayload, o dispatch.Origin) (any, error) {
		person, _ := o.Person()
		s.note("question.answer " + p.Question + " " + p.Answer)
		s.tell("question.closed", map[string]any{"question": p.Question, "answered": true, "by": pending.Responder{Name: person.Name, Surface: person.Surface}})
		return struct{}{}, nil
	})
	register(s, d, "task.start", dispatch.ScopeOperate, func(p startPayload, _ dispatch.Origin) (any, error) {
		started := task{ID: "t2", Parent: p.Parent, Title: p.Title, State: "running", Agent: p.Agent, Created: time.Now()}
		s.tell("task.changed", map[string]any{"task": started})
		return started, nil
	})
	register(s, d, "task.prompt", dispatch.ScopeOperate, func(p promptPayload, _ dispatch.Origin) (any, error) {
		s.note("task.prompt " + p.Task + " " + p.Text)
		return struct{}{}, nil
	})
	for _, name := range []string{"task.cancel", "task.stop"} {
		register(s, d, name, dispatch.ScopeOperate, func(p taskPayload, _ dispatch.Origin) (any, error) {
			s.note(name + " " + p.Task)
			return map[string]string{"state": "stopped"}, nil
		})
	}
}

// register registers an action whose payload is a P.
func register[P any](s *stand, d *dispatch.Dispatcher, name string, scope dispatch.Scope, handle func(P, dispatch.Origin) (any, error)) {
	s.Helper()
	schema, err := jsonschema.For[P](nil)
	require.NoError(s, err)
	require.NoError(s, d.Register(dispatch.Action{
		Name: name, Doc: "Does " + name + ".", Schema: schema, Scope: scope,
		Handler: func(_ context.Context, o dispatch.Origin, raw jsontext.Value) (any, error) {
			var payload P
			if err := json.Unmarshal(raw, &payload); err != nil {
				return nil, err
			}
			return handle(payload, o)
		},
	}))
}

// whole is the state with all open offers, oldest first.
func (s *stand) whole() wholeState {
	whole := s.state
	var after uint64
	for {
		part := s.store.List(pending.Query{After: after})
		for _, snapshot := range part {
			whole.Offers = append(whole.Offers, offerOf(snapshot))
			after = snapshot.Sequence
		}
		if len(part) < pending.MaxList {
			return whole
		}
	}
}

func (s *stand) key(p offerPayload) pending.Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	return pending.Key{Instance: s.instances[p.Session], Session: p.Session, Request: pending.RequestID(p.Request)}
}

func (s *stand) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, what)
}

// wireError is an error of the store as clients get it.
func wireError(err error) error {
	var failure pending.Error
	if !errors.As(err, &failure) {
		return err
	}
	return &dispatch.Error{Code: dispatch.Code(failure.Code), Message: failure.Error()}
}
