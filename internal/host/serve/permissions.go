package serve

import (
	"context"
	"errors"
	"time"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/mcptools"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/task"
)

type offerPayload struct {
	Session string            `json:"session" jsonschema:"session of the offer, exactly as listed"`
	Request pending.RequestID `json:"request" jsonschema:"id of the offer, exactly as listed"`
}

// answerPayload is one of the two.
type answerPayload struct {
	Option *string `json:"option,omitempty" jsonschema:"id of an option, exactly as listed"`
	Choice string  `json:"choice,omitempty" jsonschema:"allow (the allow of the least reach), deny or cancel"`
}

type resolvePayload struct {
	offerPayload
	Answer answerPayload `json:"answer" jsonschema:"an option, or a choice"`
}

type questionPayload struct {
	Question string `json:"question" jsonschema:"id of the question"`
	Answer   string `json:"answer" jsonschema:"the answer, one of the options or any other text"`
}

// answeredResult says that an answer counts. Already says that this very answer was
// given before, and nothing more was sent.
type answeredResult struct {
	Answered bool `json:"answered"`
	Already  bool `json:"already_resolved,omitempty"`
}

// permissionActions are those about offers.
func (s *Server) permissionActions() []dispatch.Action {
	return []dispatch.Action{
		action("permission.list", "Lists the open offers, oldest first, redacted.", dispatch.ScopeView, s.listOffers),
		action("permission.detail", "Returns what a person has to see of an open offer to judge it: arguments and changes.", dispatch.ScopeAnswer,
			func(_ context.Context, o dispatch.Origin, in offerPayload) (any, error) {
				known, err := s.known(o, in.Request)
				if err != nil {
					return nil, err
				}
				d, err := s.store.Detail(known.key(in))
				return viewDetail(d), err
			}),
		action("permission.resolve", "Answers an offer. The first answer counts: errors such as already_resolved, expired and withdrawn say why another one came too late.",
			dispatch.ScopeAnswer, func(ctx context.Context, o dispatch.Origin, in resolvePayload) (any, error) {
				return s.resolve(ctx, o, in.offerPayload, in.Answer)
			}),
	}
}

// questionActions are those about questions of agents.
func (s *Server) questionActions() []dispatch.Action {
	return []dispatch.Action{
		action("question.list", "Lists the open questions of agents, oldest first.", dispatch.ScopeView, func(_ context.Context, o dispatch.Origin, _ mcptools.Nothing) (any, error) {
			questions, err := s.tasks.Questions(actor(o))
			views := []questionView{}
			for _, q := range questions {
				views = append(views, viewQuestion(q))
			}
			return map[string]any{"questions": views}, err
		}),
		action("question.answer", "Answers a question. The first answer counts.", dispatch.ScopeAnswer, s.answerQuestion),
	}
}

// listOffers lists those of tasks that somebody reaches, and notes that somebody is there.
func (s *Server) listOffers(ctx context.Context, o dispatch.Origin, _ mcptools.Nothing) (any, error) {
	return map[string]any{"offers": s.offersFor(ctx, o)}, nil
}

// offersFor are the open offers that somebody sees, who from now on is one that looks.
func (s *Server) offersFor(ctx context.Context, o dispatch.Origin) []offerView {
	if p, ok := o.Person(); ok {
		s.surfaces.watches(ctx, p, "")
	}
	return s.openOffers(s.reached(actor(o)))
}

// openOffers are the open offers of the visible tasks, oldest first.
func (s *Server) openOffers(visible func(task.ID) bool) []offerView {
	views := []offerView{}
	for q := (pending.Query{}); ; {
		page := s.store.List(q)
		for i := range page {
			if known, ok := s.offers.find(page[i].Request); ok && visible(known.task) {
				views = append(views, viewOffer(&page[i], known))
			}
			q.After = page[i].Sequence
		}
		if len(page) < pending.MaxList {
			return views
		}
	}
}

// known finds an offer of a task that somebody reaches. Any other one does not exist.
func (s *Server) known(o dispatch.Origin, request pending.RequestID) (knownOffer, error) {
	known, ok := s.offers.find(request)
	if !ok || !s.reached(actor(o))(known.task) {
		return knownOffer{}, pending.ErrNotFound
	}
	return known, nil
}

// key is that of an offer in the store.
func (k knownOffer) key(in offerPayload) pending.Key {
	return pending.Key{Instance: k.instance, Session: in.Session, Request: in.Request}
}

// resolve answers an offer for a person. Its record is in the audit file before the
// person hears that it counts, also of an answer that was given before.
func (s *Server) resolve(ctx context.Context, o dispatch.Origin, in offerPayload, a answerPayload) (any, error) {
	person, ok := o.Person()
	if !ok {
		return nil, &dispatch.Error{Code: dispatch.CodeForbidden, Message: "people alone answer"}
	}
	answer, err := a.answer()
	if err != nil {
		return nil, err
	}
	known, err := s.known(o, in.Request)
	if err != nil {
		return nil, err
	}
	before := s.audit.Stats()
	err = s.store.Resolve(known.key(in), answer, pending.Responder{Name: person.Name, Surface: person.Surface})
	given := pending.Error{}
	already := errors.As(err, &given) && given.Same
	if err != nil && !already {
		return nil, err
	}
	if already {
		before = audit.Stats{} // nobody knows when: its record may be any that was lost
	}
	if err := s.recorded(ctx, known.over, before); err != nil {
		return nil, err
	}
	return answeredResult{Answered: true, Already: already}, nil
}

// recordWithin is how long an answer waits for its record: the agent has it already.
const recordWithin = 2 * time.Second

// errNotRecorded says that the agent has the answer and the audit file has not.
var errNotRecorded = &dispatch.Error{
	Code:    dispatch.CodeUnavailable,
	Message: "the answer was given, but its audit record is not written yet: send the same answer again to learn when it is",
}

// errRecordLost says that the agent has the answer and the audit file will not have it.
var errRecordLost = &dispatch.Error{
	Code:    dispatch.CodeInternal,
	Message: "the answer was given, but its audit record may be lost: the disk could not keep up, and the file says where records are missing; sending it again changes nothing",
}

// recorded waits until the record of an answer, which was given after the audit had
// these counts, is appended and written. An answer that did not reach its agent is
// stale, whoever gave it.
func (s *Server) recorded(ctx context.Context, over *offerOver, before audit.Stats) error {
	ctx, cancel := context.WithTimeout(ctx, recordWithin)
	defer cancel()
	select {
	case <-over.done:
	case <-ctx.Done():
		s.log.Warn("an answer was given before the offer was told to everybody")
		return errNotRecorded
	}
	if !over.sent {
		return pending.Error{Code: pending.CodeStale, Reason: pending.ReasonNotDelivered}
	}
	err := s.audit.Flush(ctx, before)
	switch {
	case errors.Is(err, audit.ErrDropped):
		s.log.Error("an answer was given and its audit record may be lost", "error", err)
		return errRecordLost
	case err != nil:
		s.log.Warn("an answer was given before its audit record was written", "error", err)
		return errNotRecorded
	}
	return nil
}

// answer is what the store takes.
func (a answerPayload) answer() (pending.Answer, error) {
	choices := map[string]pending.Answer{"allow": pending.Allow(), "deny": pending.Deny(), "cancel": pending.Cancel()}
	choice, known := choices[a.Choice]
	switch {
	case a.Option != nil && a.Choice == "":
		return pending.Select(*a.Option), nil
	case a.Option == nil && known:
		return choice, nil
	}
	return pending.Answer{}, &dispatch.Error{Code: dispatch.CodeInvalidPayload, Message: "an answer is either an option or a choice: allow, deny or cancel"}
}
