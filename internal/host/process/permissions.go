package process

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// handlePermissionRequest decides one offer, on the goroutine that reads the
// agent. What the policy decides is answered at once; what is left is a person's
// and waits elsewhere.
func (m *Manager) handlePermissionRequest(i *Instance, o *acp.Offer, line []byte) {
	number := m.offered.Add(1)
	i.witness(&o.Request)
	result := decidePermission(i.ctx, i.pipeline, o, i.cancelling(o.Request.SessionID))
	if result.Decision.Verdict != pipeline.Pend {
		i.settle(number, o, line, result)
		return
	}
	w, err := i.offers.add(i.ctx, number, o)
	switch {
	case errors.Is(err, errTooMany):
		i.settle(number, o, line, cancelled(ReasonTooManyOpen))
		return
	case err != nil:
		return // the instance is ending and takes no answers
	case i.cancelling(o.Request.SessionID) && i.offers.take(w): // meanwhile
		w.cancel(ErrSessionCancelled)
		i.settle(number, o, line, cancelled(ReasonSessionCancelled))
		return
	}
	i.decided(number, o, line, result)
	q := i.question(number, o, line, result)
	go func() { i.answer(w, m.ask(w.ctx, q)) }()
}

// settle reports a decision and answers with it.
func (i *Instance) settle(number uint64, o *acp.Offer, line []byte, r pipeline.Result) {
	i.decided(number, o, line, r)
	i.conn.send(o.Answer(r))
}

// decided logs and reports a decision.
func (i *Instance) decided(number uint64, o *acp.Offer, line []byte, r pipeline.Result) {
	kind := selectedKind(r, o.Request.Options)
	logDecision(i.log, number, r, kind)
	i.manager.options.Watcher.Decided(i.ctx, Decided{
		Instance: i.id, Number: number, Session: o.Request.SessionID, ToolCall: o.Request.Call.ID,
		Result: r, OptionKind: kind, line: line, req: &o.Request,
	})
}

// question is what a person is shown.
func (i *Instance) question(number uint64, o *acp.Offer, line []byte, r pipeline.Result) Question {
	q := Question{
		Instance: i.id, Agent: pipeline.Agent(i.config.Agent), Number: number,
		Session: o.Request.SessionID, ToolCall: o.Request.Call.ID,
		Result: r, Action: offerAction(line, &o.Request, r.Facts.Identity), Options: o.Request.Options,
		Asked: time.Now(),
	}
	if i.hinter != nil {
		q.Hint = i.hinter.Hint(&o.Request)
	}
	return q
}

// ask asks the person. An Asker that panics has not approved anything.
func (m *Manager) ask(ctx context.Context, q Question) (a Answer) {
	defer func() {
		if recover() != nil { // its value could hold anything
			m.log.Error("asking a person panicked", "question", q, "stack", string(debug.Stack()))
			a = Cancel()
		}
	}()
	return m.options.Asker.Ask(ctx, q)
}

// answer sends a person's answer, unless the offer is over already.
func (i *Instance) answer(w *openOffer, a Answer) {
	if !i.offers.take(w) {
		i.log.Debug("an answer came too late and was dropped", "offer", w.number)
		return
	}
	option, selected := a.Selected()
	if selected && (option < 0 || option >= len(w.offer.Request.Options)) {
		i.log.Error("an answer names an option that was not offered; the offer is cancelled", "offer", w.number)
		a, selected = Cancel(), false
	}
	line := w.offer.Cancelled()
	if selected {
		line = w.offer.Select(option)
	}
	if !i.conn.send(line) {
		i.over(w, ByEnd, Cancel())
		return
	}
	i.over(w, ByPerson, a)
}

// cancelOffers answers offers "cancelled" that were taken out of the book.
func (i *Instance) cancelOffers(taken []*openOffer, how Ending) {
	for _, w := range taken {
		i.conn.send(w.offer.Cancelled())
		i.over(w, how, Cancel())
	}
}

// causes are what the context of a question ends with.
var causes = map[Ending]error{
	ByPerson: context.Canceled, ByWithdrawal: ErrWithdrawn, ByCancel: ErrSessionCancelled, ByEnd: ErrEnded, ByStop: ErrEnded,
}

// over ends a question and reports how.
func (i *Instance) over(w *openOffer, how Ending, a Answer) {
	w.cancel(causes[how])
	var option pipeline.Option
	outcome := "cancelled"
	if index, ok := a.Selected(); ok {
		outcome, option = "selected", w.offer.Request.Options[index]
	}
	i.log.Info("answer", "offer", w.number, "ending", string(how), "outcome", outcome, "option_kind", knownKind(option.Kind))
	i.manager.options.Watcher.Answered(i.ctx, Answered{
		Instance: i.id, Number: w.number, Session: w.offer.Request.SessionID, Ending: how, Answer: a, Option: option,
	})
}
