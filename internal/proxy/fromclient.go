package proxy

import (
	"errors"
	"time"

	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/pipeline/acp"
)

// fromClient relays the client's lines until it ends its side.
func (r *relay) fromClient(lines *acp.Reader) {
	var long *acp.LineTooLongError
	answered := false // where one answer was, the next line may be another one
	for {
		if answered && lines.Empty() {
			r.both.lend()
		}
		answered = false
		line, err := lines.ReadWhole()
		switch {
		case errors.As(err, &long):
			r.report.tooLong("client", long.Limit)
		case err != nil && !errors.Is(err, acp.ErrCutLine):
			return
		default:
			answered = r.takeClient(line)
		}
	}
}

// takeClient handles one line of the client. It says whether that was an answer.
func (r *relay) takeClient(line []byte) (answer bool) {
	f, err := acp.Peek(line)
	switch {
	case errors.Is(err, acp.ErrBatch):
		r.log.Warn("the client sent a JSON-RPC batch, which is refused", "bytes", len(line))
		_ = r.client.send(acp.BatchRefusal()) // who has gone is noticed where lines are relayed
	case errors.Is(err, acp.ErrBlank):
		r.agent.relay(line)
	case err != nil || f.Kind == acp.KindInvalid:
		if !r.unreadable.Swap(true) {
			r.log.Warn("a line of the client is no message: it goes to the agent, and nothing is approved automatically any more", "bytes", len(line))
		}
		r.pass(line)
	case f.Kind == acp.KindResponse:
		r.answer(f, line, func(line []byte) { r.agent.relay(line) })
		return true
	default:
		r.request(f, line)
	}
	return false
}

// pass relays a line as it is.
func (r *relay) pass(line []byte) {
	r.gate.fromClient(trimEnd(line), nil)
	r.agent.relay(line)
}

// answerAgent relays an answer of the client. One that names a method as well may be
// a request to the agent, so the decoders have to see it.
func (r *relay) answerAgent(f acp.Frame, line []byte, write func([]byte)) {
	if f.Method != "" {
		r.gate.fromClient(trimEnd(line), nil)
	} else {
		r.gate.own(trimEnd(line))
	}
	write(line)
}

// request handles requests and notifications of the client.
func (r *relay) request(f acp.Frame, line []byte) {
	switch f.Method {
	case acp.MethodNew, acp.MethodLoad, acp.MethodResume, acp.MethodFork:
		r.openSession(f, line)
		return
	case acp.MethodCancel:
		r.cancel(f, line)
		return
	case acp.MethodPrompt:
		if sessions := f.Sessions(); f.Kind == acp.KindRequest && len(sessions) > 0 {
			r.turns.begin(f.ID.Key(), sessions[0])
		}
	case acp.MethodClose, acp.MethodDelete:
		if f.Kind == acp.KindRequest {
			r.sessions.begin(f, nil) // one that cannot be followed changes nothing
		}
	case acp.MethodInitialize:
		r.sessions.initialize(f)
	}
	r.pass(line)
}

// cancel relays a session/cancel, and answers every open offer of the session
// behind it: some agents wait for that answer for ever.
func (r *relay) cancel(f acp.Frame, line []byte) {
	var cancelled []*asked
	for _, session := range f.Sessions() {
		r.turns.cancel(session)
		cancelled = append(cancelled, r.ledger.cancel(session)...)
	}
	r.gate.fromClient(trimEnd(line), nil)
	answers := make([][]byte, len(cancelled))
	for n, a := range cancelled {
		answers[n] = a.cancelled()
		r.gate.own(answers[n])
	}
	r.agent.relay(line, answers...)
	for _, a := range cancelled {
		waited := time.Since(a.since)
		a.end(func() { r.report.cancelled(a, waited) })
	}
}

// answer handles the client's answer to a request of the agent, which write relays.
func (r *relay) answer(f acp.Frame, line []byte, write func([]byte)) {
	option, selected, forOffer := f.Outcome()
	a, relay := r.ledger.answer(f.ID, forOffer, f.Result() == nil)
	if !relay {
		r.log.Warn("an answer of the client is for no open request and is dropped", "bytes", len(line))
		return
	}
	if a == nil {
		r.answerAgent(f, line, write)
		return
	}
	if !a.quick { // the nets know before the agent does
		if n, _, _ := a.chosen(option, selected); n >= 0 {
			r.gate.each(func(g *nets.Guard) { g.Allowed(a.offer, a.tool, n) })
		}
	}
	waited := time.Since(a.since)
	r.answerAgent(f, line, write)
	a.end(func() { // after the agent has it
		_, verdict, kind := a.chosen(option, selected)
		r.report.answered(a, verdict, kind, waited)
	})
}
