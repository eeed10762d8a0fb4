package proxy

import (
	"sync"
	"time"

	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// asked is one offer that the client is asked about.
type asked struct {
	number     uint64
	unreadable bool // so nobody knows of which session it is
	id         acp.ID
	session    string
	offer      *acp.Offer // without what only its decision needed
	tool       pipeline.Identity
	since      time.Time

	mu    sync.Mutex
	told  bool   // that the client is asked
	ended func() // reports the end, which came before that
}

// begun says that it was reported that the client is asked.
func (a *asked) begun() {
	a.mu.Lock()
	a.told = true
	ended := a.ended
	a.mu.Unlock()
	if ended != nil {
		ended()
	}
}

// end reports how it ended, but never before it was reported that it began. It waits
// for nobody.
func (a *asked) end(report func()) {
	a.mu.Lock()
	told := a.told
	if !told {
		a.ended = report
	}
	a.mu.Unlock()
	if told {
		report()
	}
}

// maxAsked bounds what an open offer holds of its frame, in bytes. Of a larger one
// nothing is known when it is answered.
const maxAsked = 64 << 10

func newAsked(d decided) *asked {
	req := &d.offer.Request
	a := &asked{
		number: d.number, unreadable: d.offer.Reason == acp.ReasonUnreadable, id: acp.NewID(d.offer.ID.String()), session: req.SessionID,
		tool: d.result.Facts.Identity, since: time.Now(),
	}
	lean := acp.Offer{ID: a.id, Request: pipeline.Request{SessionID: req.SessionID, Call: pipeline.ToolCall{ID: req.Call.ID}, Options: req.Options}}
	size := len(req.SessionID) + len(req.Call.ID)
	for _, o := range req.Options {
		size += len(o.ID) + len(o.Kind) + len(o.Label)
	}
	if size > maxAsked {
		lean.Request.Options = nil
	}
	a.offer = &lean
	return a
}

// answered tells the nets what the client chose, before the agent learns of it. It
// gives the verdict and the kind of the option for the records.
func (r *relay) answered(a *asked, option string, selected bool) (pipeline.Verdict, string) {
	if !selected {
		return pipeline.Cancel, ""
	}
	for n, o := range a.offer.Request.Options {
		if o.ID == option {
			r.gate.each(func(g *nets.Guard) { g.Allowed(a.offer, a.tool, n) })
			return pipeline.Select, o.Kind
		}
	}
	return pipeline.Select, "" // one that was not offered, or of an offer that was too large
}
