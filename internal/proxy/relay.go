package proxy

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"sync/atomic"

	"github.com/kandev/assent/internal/host/frame"
	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// relay is the connection between one client and one agent. One goroutine reads
// the agent, another one the client, or the first one takes its answers: see [both].
type relay struct {
	gate     *gate
	client   *sink
	agent    *toAgent
	both     *both
	ledger   *ledger
	turns    *turns
	sessions *sessionRequests
	modes    *modes
	report   *reporter
	log      *slog.Logger
	maxLine  int

	blanket    bool        // the person's own choice approves everything
	number     uint64      // of the last offer
	waiting    decided     // the offer that is about to be relayed
	unreadable atomic.Bool // a line of the client was no message
}

// errClientGone says that the client does not take lines any more.
var errClientGone = errors.New("proxy: the client has closed its end")

// fromAgent relays the agent's lines until it ends, or the client has gone.
func (r *relay) fromAgent(ctx context.Context, agent io.Reader) error {
	defer r.both.end()
	lines := acp.NewReader(agent, r.maxLine)
	var long *acp.LineTooLongError
	for {
		line, err := lines.ReadWhole()
		var quick *asked
		switch {
		case errors.As(err, &long):
			r.report.tooLong("agent", long.Limit)
			r.gate.each((*nets.Guard).Unreadable)
			line = nil
		case err != nil && !errors.Is(err, acp.ErrCutLine):
			r.both.end()
			return r.client.settle()
		default:
			if quick = r.quickAsk(line); quick == nil && !r.takeAgent(ctx, line) {
				line = nil
			}
		}
		more := lines.Ready()
		r.both.write(len(line), more)
		err = r.client.relay(line, more)
		r.both.come()
		if quick != nil {
			r.takeQuick(ctx, line, quick)
		}
		r.tellAsked() // after it was relayed: the agent is waiting
		if err != nil {
			return errClientGone
		}
	}
}

// tellAsked reports the offer that was just relayed, if there is one.
func (r *relay) tellAsked() {
	if r.waiting.offer != nil {
		r.report.decided(r.waiting)
		if r.waiting.asked != nil {
			r.waiting.asked.begun()
		}
		r.waiting = decided{}
	}
}

// takeAgent looks at a line of the agent. It says whether the client gets it.
func (r *relay) takeAgent(ctx context.Context, line []byte) bool {
	messages, err := r.gate.fromAgent(trimEnd(line))
	m := messages[0]
	switch {
	case errors.Is(err, acp.ErrBlank):
		return true
	case errors.Is(err, acp.ErrBatch):
		r.log.Warn("the agent sent a JSON-RPC batch, which is refused", "bytes", len(line))
		r.own(acp.BatchRefusal())
		r.gate.each((*nets.Guard).Unreadable)
		return false
	case err != nil:
		r.report.noise(line)
		return false
	case m.Offer != nil:
		return r.offer(ctx, messages)
	case m.Kind == acp.KindResponse:
		return r.response(m.Frame)
	case m.Kind == acp.KindRequest:
		r.ledger.request(m.ID)
	case m.Kind == acp.KindNotification && m.ToolCall:
		r.update(messages)
	}
	return true
}

// update tells the nets: a call may begin or be over.
func (r *relay) update(messages []acp.Message) {
	for n, i := range r.gate.injections {
		for _, session := range messages[n].Alarmed {
			i.guard.Alarm(session)
		}
		if messages[n].Replayed {
			i.guard.Replayed(messages[n].Line)
		} else {
			i.guard.Update(messages[n].Line)
		}
	}
}

// own sends a line of our own to the agent.
func (r *relay) own(line []byte) {
	r.gate.own(line)
	if r.agent.queued() >= maxQueued {
		r.both.leave()
		defer r.both.come()
	}
	r.agent.queueLine(line)
}

// response handles the agent's answers.
func (r *relay) response(f acp.Frame) (forClient bool) {
	key := f.ID.Key()
	if r.modes.answered(key) {
		if f.Result() == nil {
			r.report.modeRefused()
		}
		return false
	}
	if f.Method != "" && f.ID.Valid() { // the client may take it for a request
		r.ledger.request(f.ID)
	}
	r.sessions.capabilities(key, f)
	if done, ok := r.sessions.take(key, f); ok {
		r.settle(f, done)
	}
	if session, over := r.turns.end(key); over {
		r.gate.each(func(g *nets.Guard) { g.TurnEnded(session) })
	}
	return true
}

// settle draws the consequence of a session request that the agent has answered.
func (r *relay) settle(f acp.Frame, done sessionRequest) {
	switch {
	case done.ends:
		r.gate.unbind(done.session)
	case done.session == "":
		revoke(done.grants)
	default:
		r.gate.bind(done.grants, done.session)
		r.ask(f, done.session)
	}
}

// ask tells an agent that begins a session in a mode that does not ask to ask. The
// client's own requests come later: it does not have the session yet.
func (r *relay) ask(f acp.Frame, session string) {
	if line := r.modes.request(f, session); line != nil {
		r.report.mode(r.modes.launch.AskingMode)
		r.own(line)
	}
}

// offer decides a permission request of the agent.
func (r *relay) offer(ctx context.Context, messages []acp.Message) (forClient bool) {
	r.number++
	d := decided{number: r.number, injection: r.gate.injections[0], offer: messages[0].Offer}
	if d.offer.Reason == acp.ReasonUnreadable {
		d.result = r.unreadableOffer(messages[0])
	} else {
		d.injection, d.offer, d.result = r.gate.decide(ctx, messages, r.held(d.offer))
	}
	if d.result.Decision.Verdict != pipeline.Cancel && !r.ledger.free(d.offer.ID) {
		if d.result.Decision.Verdict == pipeline.Select {
			r.gate.each(func(g *nets.Guard) { g.Withdraw(d.offer) })
		}
		d.result.Decision, d.result.Stage = pipeline.Decision{Verdict: pipeline.Cancel, Reason: ReasonIDInUse}, nets.Stage
	}
	if answer := d.offer.Answer(d.result); answer != nil {
		r.ledger.settle(d.offer.ID)
		r.own(answer)
		r.report.decided(d)
		return false
	}
	d.asked = newAsked(d)
	r.ledger.ask(d.asked)
	r.waiting = d
	return true
}

// unreadableOffer leaves an offer to the client, which may be able to read it. The
// nets get to know of its call as well as it can be read.
func (r *relay) unreadableOffer(m acp.Message) pipeline.Result {
	f := frame.Read(m.Line)
	about := &acp.Offer{Request: pipeline.Request{SessionID: f.Session, Call: pipeline.ToolCall{ID: f.Call.ID}}}
	r.gate.each(func(g *nets.Guard) { g.Check(about, pipeline.Result{}) })
	return pipeline.Result{Decision: pipeline.Decision{Verdict: pipeline.Pend, Reason: acp.ReasonUnreadable}, Stage: acp.Stage}
}

// held is why nothing is approved automatically at the moment.
func (r *relay) held(o *acp.Offer) pipeline.Reason {
	switch {
	case r.unreadable.Load():
		return ReasonClientUnreadable
	case r.turns.cancelling(o.Request.SessionID):
		return ReasonTurnCancelled
	}
	return ""
}

// requestID is our own id of an offer.
func requestID(number uint64) string { return strconv.FormatUint(number, 10) }

func trimEnd(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return line
}
