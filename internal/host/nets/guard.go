package nets

import (
	"cmp"
	"slices"
	"sync"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
	"github.com/kandev/assent/stages"
)

// Options say what a [Guard] stands around.
type Options struct {
	// Reserved is the injected server's name, Port that of its endpoint; 0 when
	// nothing is injected.
	Reserved string
	Port     int
	// Fired is told once for each time that a net fires, and Unasked of each call
	// that nobody was asked about. Any goroutine may call them; they must not block.
	Fired   func(Fired)
	Unasked func(Unasked)
	// Beside is the guard of another injected server of the same instance: that one
	// tells of calls that ran elsewhere, and what arrives here is known to it. Nil
	// when there is none.
	Beside *Guard
	// Dial says whether something listens on a port of this machine; nil really
	// tries.
	Dial func(port int) bool
}

// Guard is the state of the nets around one agent instance: what its sessions did
// at the endpoint, which calls were allowed and have to arrive there, and what was
// lost since. It is safe for concurrent use; the agent's lines have to come to it
// in their order.
type Guard struct {
	options  Options
	contacts contacts
	wire     *Tripwire
	asked    askedCalls
	ran      *ran

	mu      sync.Mutex
	tripped bool                       // the instance approves nothing by itself any more
	held    map[string]pipeline.Reason // nor do these sessions
	alarmed map[string]struct{}        // sessions whose startup alarm was told
}

// NewGuard makes the guard of an instance that is about to start.
func NewGuard(o Options) *Guard {
	if o.Fired == nil {
		o.Fired = func(Fired) {}
	}
	if o.Unasked == nil {
		o.Unasked = func(Unasked) {}
	}
	if o.Dial == nil {
		o.Dial = reachable
	}
	seen := newRan()
	if o.Beside != nil {
		seen = o.Beside.ran
	}
	return &Guard{options: o, contacts: newContacts(), wire: NewTripwire(), ran: seen, held: map[string]pipeline.Reason{}, alarmed: map[string]struct{}{}}
}

// Expect says that a secret for the endpoint exists, before the agent has it.
func (g *Guard) Expect(id endpoint.SessionID) { g.contacts.expect(id) }

// Bind says that a secret is that of an ACP session from now on. An earlier one of
// the session counts no more.
func (g *Guard) Bind(id endpoint.SessionID, session string) { g.contacts.bind(id, session) }

// Forget says that a secret was revoked.
func (g *Guard) Forget(id endpoint.SessionID) { g.contacts.forget(id) }

// Listed implements [endpoint.Observer].
func (g *Guard) Listed(id endpoint.SessionID, tools []string) { g.contacts.list(id, tools) }

// Arrived implements [endpoint.Observer].
func (g *Guard) Arrived(id endpoint.SessionID, a endpoint.Arrival) {
	session, ok := g.contacts.owner(id)
	arrival := Arrival{Tool: a.Tool, IDs: named(a.ToolUseID, a.CallID)}
	if !a.Unmatchable {
		if ok && g.wire.Arrived(session, arrival) {
			return
		}
		if known, offered := g.asked.accounts(session, arrival); known {
			if !offered {
				g.seen(session, arrival.IDs)
			}
			return
		}
	}
	g.seen(session, arrival.IDs)
	g.options.Unasked(Unasked{Session: session, Arrived: true, Tool: g.tool(a.Tool)}) // as it was called: a mended name has passed no parser
}

// named are the ids that say something.
func named(ids ...string) []string {
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" })
}

// seen keeps a call that arrived without an offer from being told once more when
// the agent reports its end.
func (g *Guard) seen(session string, ids []string) {
	if len(ids) == 0 {
		g.ran.nameless(session)
	}
	for _, id := range ids {
		g.ran.account(session, id)
	}
}

// tool is a tool of the injected server, if its name passes the parser.
func (g *Guard) tool(name string) pipeline.Identity {
	id, _ := pipeline.NewIdentity(pipeline.ClaimTool(g.options.Reserved, name))
	return id
}

// Witness puts the endpoint's record of the request's own session into it, for the
// witness stage. A session without a secret of its own was not seen there.
func (g *Guard) Witness(req *pipeline.Request) {
	req.Session.OfferedTools, req.Session.Contacted = g.contacts.offered(req.SessionID)
}

// Check turns an automatic approval into a question where a net says so, and
// waits for the arrival of one that stays. It is for every offer that the pipeline
// decided, before the answer is sent.
func (g *Guard) Check(o *acp.Offer, r pipeline.Result) pipeline.Result {
	g.offered(o)
	if r.Decision.Verdict != pipeline.Select || !allows(o, r.Decision.Option) {
		return r
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if r.Stage == stages.BlanketName {
		g.expect(o, r.Facts.Identity, r.Decision.Option, false)
		return r
	}
	if reason := g.objection(o, r); reason != "" {
		return askInstead(r, reason)
	}
	if !g.expect(o, r.Facts.Identity, r.Decision.Option, true) {
		return askInstead(r, ReasonTooManyAwaited)
	}
	return r
}

// offered notes that the agent asks for a call. A sub-agent may ask in a session of
// its own, while its parent reports the call in another one.
func (g *Guard) offered(o *acp.Offer) {
	g.ran.account(o.Request.SessionID, o.Request.Call.ID)
	if !o.Request.Session.Announced {
		g.ran.account("", o.Request.Call.ID)
	}
}

// objection is why a call may not be approved automatically; empty for no reason.
func (g *Guard) objection(o *acp.Offer, r pipeline.Result) pipeline.Reason {
	switch {
	case g.tripped:
		return ReasonTripwireFired
	case g.held[o.Request.SessionID] != "":
		return g.held[o.Request.SessionID]
	case tooLong(o):
		return ReasonIDTooLong
	case r.Facts.Injected && !g.contacts.known(o.Request.SessionID): // it could not be watched
		return stages.ReasonNoSessionSecret
	case g.wire.Doubtful():
		return ReasonEndUnreadable
	}
	return ""
}

// MaxFollowed is the longest id of a call or session in bytes that is followed to
// the endpoint; real ones have some forty.
const MaxFollowed = 512

func tooLong(o *acp.Offer) bool {
	return len(o.Request.SessionID) > MaxFollowed || len(o.Request.Call.ID) > MaxFollowed
}

// askInstead keeps what was learned and asks a person.
func askInstead(r pipeline.Result, reason pipeline.Reason) pipeline.Result {
	r.Decision, r.Stage = pipeline.Decision{Verdict: pipeline.Pend, Reason: reason}, Stage
	return r
}

// allows says whether an option of an offer allows the call.
func allows(o *acp.Offer, option int) bool {
	return option >= 0 && option < len(o.Request.Options) && pipeline.IsAllow(o.Request.Options[option].Kind)
}

// Allowed says that a person is about to allow a call with the given option, of an
// offer with the given identity. It trips nothing, but its arrival is its own. An
// option that does not allow is no matter.
func (g *Guard) Allowed(o *acp.Offer, id pipeline.Identity, option int) {
	if allows(o, option) {
		g.expect(o, id, option, false)
	}
}

// expect notes a call that is about to be allowed, before the agent learns of it.
// It is false when it cannot be watched.
func (g *Guard) expect(o *acp.Offer, id pipeline.Identity, option int, automatic bool) bool {
	if g.options.Port == 0 || tooLong(o) {
		return true
	}
	session, call := o.Request.SessionID, o.Request.Call.ID
	always := o.Request.Options[option].Kind == pipeline.AllowAlways
	named := id.State() == pipeline.Named && id.Server() == g.options.Reserved
	switch {
	case named && g.contacts.known(session):
		if always {
			g.asked.always(session, id.Tool())
		}
		if g.wire.Expect(session, Call{ID: call, Tool: id.Tool(), Automatic: automatic}) {
			return true
		}
		if automatic {
			return false
		}
		g.asked.allow(session, call, false) // there is no room where its arrival would be its own
	case named || id.State() == pipeline.Unknown: // it may be for the endpoint, by whatever session
		g.asked.allow(session, call, always)
	}
	return true
}

// Withdraw takes back what was expected of an approval that was not sent after all.
func (g *Guard) Withdraw(o *acp.Offer) { g.wire.Withdraw(o.Request.SessionID, o.Request.Call.ID) }

// maxAlarmed bounds the sessions whose startup alarm is remembered as told.
const maxAlarmed = 4096

// Noticed tells which net kept an offer off the automatic path. It is for every
// offer, with the host's number and id of it and what was decided, before the
// answer is sent.
func (g *Guard) Noticed(number uint64, request string, o *acp.Offer, r pipeline.Result) {
	session, call := o.Request.SessionID, o.Request.Call.ID
	if o.Reason == acp.ReasonNoOptions { // it went through no check
		g.offered(o)
	}
	if r.Decision.Verdict == pipeline.Select {
		g.wire.Name(session, call, request)
	}
	f := Fired{Session: session, Number: number, Request: request, Reason: cmp.Or(r.Facts.Kept, r.Decision.Reason), Tool: r.Facts.Identity}
	if o.Request.Session.StartupAlarm && g.alarm(session) {
		g.options.Fired(Fired{Session: session, Number: number, Request: request, Net: audit.StartupAlarm, Reason: stages.ReasonStartupAlarm})
	}
	switch f.Reason {
	case stages.ReasonNotContacted, stages.ReasonToolNotOffered, stages.ReasonNoSessionSecret:
		f.Net = audit.Witness
	case stages.ReasonNeverAutomatic:
		f.Net = audit.NeverAutomatic
	default:
		return
	}
	g.options.Fired(f)
}

// Alarm says that the agent has reported not to have started the injected server in
// a session: see [acp.Message].
func (g *Guard) Alarm(session string) {
	if g.alarm(session) {
		g.options.Fired(Fired{Session: session, Net: audit.StartupAlarm, Reason: stages.ReasonStartupAlarm})
	}
}

// alarm says whether the startup alarm of a session is to be told: once.
func (g *Guard) alarm(session string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, told := g.alarmed[session]; told || len(g.alarmed) >= maxAlarmed {
		return false
	}
	g.alarmed[session] = struct{}{}
	return true
}
