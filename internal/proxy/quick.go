package proxy

import (
	"context"
	"time"

	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// quickAsk notes an offer that the client is asked about in any case, so that it can
// have it before the rest is known; nil for any other line. A recording has its lines
// in the order in which they were decided, so with one there is none.
func (r *relay) quickAsk(line []byte) *asked {
	if r.blanket || r.gate.recorder != nil {
		return nil
	}
	q, ok := acp.QuickAsk(line)
	if !ok || !r.ledger.free(q.ID) {
		return nil
	}
	r.number++
	a := &asked{number: r.number, id: q.ID, session: q.Session, quick: true, since: time.Now()}
	r.ledger.ask(a)
	return a
}

// takeQuick decides the offer that was just relayed: why it is asked about is for the
// records, and its call for the nets.
func (r *relay) takeQuick(ctx context.Context, line []byte, a *asked) {
	d := decided{number: a.number, injection: r.gate.injections[0], offer: &acp.Offer{ID: a.id, Reason: acp.ReasonUnreadable}, asked: a}
	messages, err := r.gate.fromAgent(trimEnd(line))
	if err == nil && messages[0].Offer != nil && messages[0].Offer.Reason == "" {
		d.injection, d.offer, d.result = r.gate.decide(ctx, messages, r.held(messages[0].Offer))
	} else {
		d.result = r.unreadableOffer(acp.Message{Frame: acp.Frame{Line: trimEnd(line)}})
	}
	if d.result.Decision.Verdict != pipeline.Pend { // cannot happen: the client has it
		r.log.Error("an offer was relayed that should have been answered", "offer", d.number, "result", d.result)
		r.gate.each(func(g *nets.Guard) { g.Withdraw(d.offer) })
		d.result.Decision, d.result.Stage = pipeline.Decision{Verdict: pipeline.Pend, Reason: ReasonRelayed}, nets.Stage
	}
	a.know(d)
	r.waiting = d
}
