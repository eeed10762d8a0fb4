package process

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/frame"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// openOffer is one offer that waits for a person. The store says once how it
// ended; here its answer is written, and that it ended is told after it was told
// that it began.
type openOffer struct {
	instance *Instance
	number   uint64
	offer    *acp.Offer
	identity pipeline.Identity
	kind     audit.Kind

	mu    sync.Mutex
	told  bool      // that a person is asked
	ended *Answered // it ended before that
}

// deliver is called by the store, exactly once, by whoever ended the offer.
func (w *openOffer) deliver(out pending.Outcome) error {
	if out.Key.Request == "" {
		return nil // it never waited: who wanted to register it answers
	}
	a := Answered{Instance: w.instance.id, Number: w.number, Outcome: out}
	if out.Verdict == pipeline.Select {
		a.Option = w.offer.Request.Options[out.Option]
	}
	w.mu.Lock()
	a.Sent = w.instance.sendOutcome(w, out)
	w.instance.owed.paid()
	told := w.told
	if !told {
		w.ended = &a
	}
	w.mu.Unlock()
	if told {
		w.instance.answered(w, a)
	}
	if !a.Sent {
		return ErrEnded
	}
	return nil
}

// announce tells that a person is asked, and then that the offer has ended, if it
// has meanwhile.
func (w *openOffer) announce(q Question) {
	w.instance.manager.options.Watcher.Asked(w.instance.ctx, q)
	w.mu.Lock()
	w.told = true
	ended := w.ended
	w.mu.Unlock()
	if ended != nil {
		w.instance.answered(w, *ended)
	}
}

// sendOutcome writes the one answer line of an offer, unless nobody is left who
// could read it.
func (i *Instance) sendOutcome(w *openOffer, out pending.Outcome) bool {
	if i.mute.Load() {
		return false
	}
	line, allowed := w.offer.Cancelled(), false
	if out.Verdict == pipeline.Select {
		line, allowed = w.offer.Select(out.Option), true
		i.nets.Allowed(w.offer, w.identity, out.Option)
	}
	sent := i.conn.send(line)
	if !sent && allowed {
		i.nets.Withdraw(w.offer)
	}
	return sent
}

// register puts an offer into the store. When it cannot wait, the reason says why.
func (w *openOffer) register(o *acp.Offer, r pipeline.Result, hint pipeline.OptionHint, f *frame.Frame) (pending.Key, pipeline.Reason) {
	i := w.instance
	if tooLargeToWait(&o.Request) {
		return pending.Key{}, pending.ReasonTooLarge
	}
	i.owed.more()
	id, err := i.manager.options.Store.Register(pending.Offer{
		Instance: i.id, ID: acp.NewID(o.ID.Key()), Request: &o.Request,
		Result: r, Hint: hint, Frame: f, Deliver: w.deliver,
	})
	if err == nil {
		return pending.Key{Instance: i.id, Session: o.Request.SessionID, Request: id}, ""
	}
	i.owed.paid()
	refused, ok := errors.AsType[pending.Error](err)
	if !ok || refused.Reason == "" { // cannot happen
		i.log.Error("an offer was not taken", "offer", w.number)
		refused.Reason = pending.ReasonNotDelivered
	}
	return pending.Key{}, refused.Reason
}

// question is what a person is shown.
func (i *Instance) question(w *openOffer, req *pipeline.Request, key pending.Key, f *frame.Frame, r pipeline.Result, hint pipeline.OptionHint) Question {
	return Question{
		Key: key, Agent: pipeline.Agent(i.config.Agent), Number: w.number, ToolCall: req.Call.ID,
		Result: r, Action: offerAction(f, req, r.Facts.Identity), Options: req.Options, Hint: hint,
		Asked: time.Now(),
	}
}

// LogValue holds no text of the agent.
func (w *openOffer) LogValue() slog.Value { return slog.Uint64Value(w.number) }
