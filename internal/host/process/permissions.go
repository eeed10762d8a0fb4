package process

import (
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// handlePermissionRequest decides one offer, on the goroutine that reads the
// agent. What the policy decides is answered at once; what is left is a person's
// and waits in the store.
func (m *Manager) handlePermissionRequest(i *Instance, o *acp.Offer, line []byte) {
	number := m.offered.Add(1)
	i.witness(&o.Request)
	result := decidePermission(i.ctx, i.pipeline, o, i.cancelling(o.Request.SessionID))
	if result.Decision.Verdict != pipeline.Pend {
		i.settle(number, o, line, result)
		return
	}
	i.ask(number, o, line, result)
}

// ask lets a person decide an offer.
func (i *Instance) ask(number uint64, o *acp.Offer, line []byte, r pipeline.Result) {
	var hint pipeline.OptionHint
	if i.hinter != nil {
		hint = i.hinter.Hint(&o.Request)
	}
	w := &openOffer{instance: i, number: number, offer: o, identity: r.Facts.Identity}
	key, refused := w.register(r, hint, line)
	if refused != "" {
		i.settle(number, o, line, cancelled(refused))
		return
	}
	if i.cancelling(key.Session) { // meanwhile
		i.manager.options.Store.CancelSession(key.Instance, key.Session)
	}
	i.decided(number, key.Request, o, line, r)
	w.announce(i.question(w, key, line, r, hint))
}

// settle reports a decision and answers with it.
func (i *Instance) settle(number uint64, o *acp.Offer, line []byte, r pipeline.Result) {
	i.decided(number, "", o, line, r)
	i.conn.send(o.Answer(r))
}

// decided logs and reports a decision. Request is the store's id of an offer that
// waits, and empty for one that does not.
func (i *Instance) decided(number uint64, request pending.RequestID, o *acp.Offer, line []byte, r pipeline.Result) {
	kind := selectedKind(r, o.Request.Options)
	logDecision(i.log, number, r, kind)
	i.manager.options.Watcher.Decided(i.ctx, Decided{
		Instance: i.id, Number: number, Request: request, Session: o.Request.SessionID, ToolCall: o.Request.Call.ID,
		Result: r, OptionKind: kind, line: line, req: &o.Request,
	})
}
