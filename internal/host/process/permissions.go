package process

import (
	"time"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// handlePermissionRequest decides one offer, on the goroutine that reads the
// agent. What the policy decides is answered at once; what is left is a person's
// and waits in the store.
func (m *Manager) handlePermissionRequest(i *Instance, o *acp.Offer, line []byte) {
	number := m.offered.Add(1)
	i.nets.Witness(&o.Request)
	start := time.Now()
	result := decidePermission(i.ctx, i.pipeline, o, i.cancelling(o.Request.SessionID))
	t := taken{start, time.Since(start)}
	if i.from.Over != nil && i.from.Over() {
		result = askWhenOver(o, result)
	}
	result = i.nets.Check(o, result)
	read := onDemand(line)
	if result.Decision.Verdict != pipeline.Pend {
		i.settle(number, o, read, result, t)
		return
	}
	i.ask(number, o, read, result, t)
}

// ask lets a person decide an offer.
func (i *Instance) ask(number uint64, o *acp.Offer, read reading, r pipeline.Result, t taken) {
	var hint pipeline.OptionHint
	if i.hinter != nil {
		hint = i.hinter.Hint(&o.Request)
	}
	w := &openOffer{instance: i, number: number, offer: waiting(o), identity: r.Facts.Identity, kind: audit.CallKind(o.Request.Call.Kind)}
	key, refused := w.register(o, r, hint, read())
	if refused != "" {
		i.settle(number, o, read, cancelled(refused), t)
		return
	}
	if i.cancelling(key.Session) { // meanwhile
		i.manager.options.Store.CancelSession(key.Instance, key.Session)
	}
	i.decided(number, key.Request, o, read, r, t)
	w.announce(i.question(w, &o.Request, key, read(), r, hint))
}

// settle reports a decision and answers with it.
func (i *Instance) settle(number uint64, o *acp.Offer, read reading, r pipeline.Result, t taken) {
	i.decided(number, i.manager.options.Store.NextID(), o, read, r, t)
	if !i.conn.send(o.Answer(r)) && r.Decision.Verdict == pipeline.Select {
		i.nets.Withdraw(o)
	}
}
