package proxy

import (
	"sync"
	"time"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// asked is one offer that the client is asked about.
type asked struct {
	number     uint64
	unreadable bool // so nobody knows of which session it is
	quick      bool // it was relayed before it was decoded: see quick.go
	id         acp.ID
	session    string
	since      time.Time
	// What is known once it was decoded.
	offer *acp.Offer // without what only its decision needed
	tool  pipeline.Identity
	kind  audit.Kind

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
	a := &asked{
		number: d.number, unreadable: d.offer.Reason == acp.ReasonUnreadable,
		id: acp.NewID(d.offer.ID.String()), session: d.offer.Request.SessionID, since: time.Now(),
	}
	a.know(d)
	return a
}

// know keeps what was decoded.
func (a *asked) know(d decided) {
	req := &d.offer.Request
	a.tool, a.kind = d.result.Facts.Identity, audit.CallKind(d.offer.Request.Call.Kind)
	a.offer = &acp.Offer{ID: a.id, Request: pipeline.Request{SessionID: req.SessionID, Call: pipeline.ToolCall{ID: req.Call.ID}, Options: req.Options}}
	size := len(req.SessionID) + len(req.Call.ID)
	for _, o := range req.Options {
		size += len(o.ID) + len(o.Kind) + len(o.Label)
	}
	if size > maxAsked {
		a.offer.Request.Options = nil
	}
}

// cancelled is the answer that is given in place of the client.
func (a *asked) cancelled() []byte { return (&acp.Offer{ID: a.id}).Cancelled() }

// chosen is which option an answer of the client selects, -1 for none that was
// offered, and what the records say of it.
func (a *asked) chosen(option string, selected bool) (n int, verdict pipeline.Verdict, kind string) {
	if !selected {
		return -1, pipeline.Cancel, ""
	}
	for n, o := range a.offer.Request.Options {
		if o.ID == option {
			return n, pipeline.Select, o.Kind
		}
	}
	return -1, pipeline.Select, "" // one that was not offered, or of an offer that was too large
}
