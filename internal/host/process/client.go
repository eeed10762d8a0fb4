package process

import (
	"time"

	"github.com/kandev/assent/pipeline/acp"
)

// forwardPermissionRequest takes an offer from the connection. One that is
// decided by its form (unreadable, or without options) is answered "cancelled"
// here, before any stage; the others go to the manager.
func (i *Instance) forwardPermissionRequest(o *acp.Offer, line []byte) {
	if o.Reason == "" {
		i.manager.handlePermissionRequest(i, o, line)
		return
	}
	i.settle(i.manager.offered.Add(1), o, onDemand(line), o.Decide(i.ctx, nil), taken{start: time.Now()})
}

// sessionUpdate hands an update to the watcher, and waits for it.
func (i *Instance) sessionUpdate(m acp.Message) {
	if m.Replayed {
		i.nets.Replayed(m.Line)
	} else {
		i.nets.Update(m.Line)
	}
	i.manager.options.Watcher.Updated(i.ctx, Update{Instance: i.id, Line: m.Line})
}

// startupFailed is told once for each session in which the agent did not start the
// injected server.
func (i *Instance) startupFailed(session string) { i.nets.Alarm(session) }

// unreadable is told of a line that is dropped with whatever it says.
func (i *Instance) unreadable() { i.nets.Unreadable() }

// cancelRequest withdraws an offer. Should the agent have used one id for two,
// both are over: neither can be told from the other.
func (i *Instance) cancelRequest(line []byte) {
	id, ok := cancelledID(line)
	if !ok {
		i.log.Debug("a $/cancel_request of the agent names no request", "bytes", len(line))
		return
	}
	i.manager.options.Store.Withdraw(i.id, acp.NewID(id))
}
