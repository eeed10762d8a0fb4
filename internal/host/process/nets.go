package process

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
	"github.com/kandev/assent/stages"
)

// Reasons of the manager, each with the verdict pend: the pipeline would have
// approved, and a net around it says that a person has to. Blanket approval is
// the person's own choice and stays as it is.
const (
	// ReasonTripwireFired: an approved call never arrived at the endpoint, so the
	// instance has lost automatic approval until it is restarted.
	ReasonTripwireFired pipeline.Reason = "tripwire_fired"
	// ReasonEndpointUnreachable: an approved call of this session failed because
	// the endpoint itself cannot be reached.
	ReasonEndpointUnreachable pipeline.Reason = "injected_server_unreachable"
	// ReasonIDTooLong: the id of the call or its session is longer than any that
	// could be followed to the endpoint.
	ReasonIDTooLong pipeline.Reason = "call_id_too_long"
	// ReasonTooManyAwaited: so many approved calls of this session have not ended
	// that no further one could be watched.
	ReasonTooManyAwaited pipeline.Reason = "too_many_calls_awaited"
)

// safety is the state of the nets around one instance. What has no lock is for
// the goroutine that reads the agent alone.
type safety struct {
	wire  *nets.Tripwire
	asked askedCalls

	tripped bool                       // the instance approves nothing by itself any more
	held    map[string]pipeline.Reason // nor do these sessions
	alarmed map[string]struct{}        // sessions whose startup alarm was told
	dial    func(port int) bool        // whether the endpoint can be reached
}

func newSafety() safety {
	return safety{wire: nets.NewTripwire(), held: map[string]pipeline.Reason{}, alarmed: map[string]struct{}{}, dial: reachable}
}

// guard turns an automatic approval into a question where a net says so, and
// waits for the arrival of one that stays.
func (i *Instance) guard(o *acp.Offer, r pipeline.Result) pipeline.Result {
	if r.Decision.Verdict != pipeline.Select || !allows(selectedKind(r, o.Request.Options)) {
		return r
	}
	automatic := r.Stage != stages.BlanketName
	switch held := i.nets.held[o.Request.SessionID]; {
	case automatic && i.nets.tripped:
		return askInstead(r, ReasonTripwireFired)
	case automatic && held != "":
		return askInstead(r, held)
	case automatic && tooLong(o):
		return askInstead(r, ReasonIDTooLong)
	case automatic && r.Facts.Injected && !i.hasSecret(o.Request.SessionID): // it could not be watched
		return askInstead(r, stages.ReasonNoSessionSecret)
	}
	if !i.expect(o, r.Facts.Identity, r.Decision.Option, automatic) && automatic {
		return askInstead(r, ReasonTooManyAwaited)
	}
	return r
}

// maxFollowed is the longest id in bytes that is followed; real ones have some
// forty.
const maxFollowed = 512

func tooLong(o *acp.Offer) bool {
	return len(o.Request.SessionID) > maxFollowed || len(o.Request.Call.ID) > maxFollowed
}

// askInstead keeps what was learned and asks a person.
func askInstead(r pipeline.Result, reason pipeline.Reason) pipeline.Result {
	r.Decision, r.Stage = pipeline.Decision{Verdict: pipeline.Pend, Reason: reason}, Stage
	return r
}

func allows(kind string) bool { return kind == pipeline.AllowOnce || kind == pipeline.AllowAlways }

// expect notes a call that is about to be allowed, before the agent learns of it.
// It is false when it cannot be watched.
func (i *Instance) expect(o *acp.Offer, id pipeline.Identity, option int, automatic bool) bool {
	kind := o.Request.Options[option].Kind
	if i.endpoint == nil || !allows(kind) || tooLong(o) {
		return true
	}
	session, call := o.Request.SessionID, o.Request.Call.ID
	always := kind == pipeline.AllowAlways
	named := id.State() == pipeline.Named && id.Server() == i.config.ReservedName
	switch {
	case named && i.hasSecret(session):
		if always {
			i.nets.asked.always(session, id.Tool())
		}
		return i.nets.wire.Expect(session, nets.Call{ID: call, Tool: id.Tool(), Automatic: automatic})
	case named || id.State() == pipeline.Unknown: // it may be for the endpoint, by whatever session
		i.nets.asked.allow(session, call, always)
	}
	return true
}

// unexpect takes back what was expected of an approval that was not sent.
func (i *Instance) unexpect(o *acp.Offer) {
	i.nets.wire.Withdraw(o.Request.SessionID, o.Request.Call.ID)
}

// hasSecret says whether the session can be told apart at the endpoint.
func (i *Instance) hasSecret(session string) bool {
	i.mu.Lock()
	s := i.sessions[session]
	i.mu.Unlock()
	if s == nil {
		return false
	}
	_, ok := s.EndpointSession()
	return ok
}

// arrived is called by the endpoint for each call that reaches it.
func (i *Instance) arrived(id endpoint.SessionID, a endpoint.Arrival) {
	session, ok := i.contacts.owner(id)
	arrival := nets.Arrival{Tool: a.Tool, IDs: []string{a.ToolUseID, a.CallID}}
	switch {
	case a.Unmatchable:
	case ok && i.nets.wire.Arrived(session, arrival), i.nets.asked.accounts(session, arrival):
		return
	}
	tool, _ := pipeline.NewIdentity(pipeline.ClaimTool(i.config.ReservedName, a.Tool)) // as it was called: a mended name has passed no parser
	i.unasked(Unasked{Instance: i.id, Session: session, Tool: tool})
}

// callEnded looks at an update of the agent: a call of it may be over.
func (i *Instance) callEnded(line []byte) {
	if i.endpoint == nil || !mayEndCall(line) {
		return
	}
	v := Update{Instance: i.id, Line: line}.View()
	if (v.Kind != "tool_call" && v.Kind != "tool_call_update") || (v.Status != "completed" && v.Status != "failed") {
		return
	}
	i.nets.asked.ended(v.Session, v.ToolCall)
	i.missed(v.Session, i.nets.wire.Ended(v.Session, v.ToolCall), v.Status == "failed")
}

// mayEndCall rules out most updates without decoding them: the word can only be
// missing where it is written with escapes.
func mayEndCall(line []byte) bool {
	return bytes.Contains(line, []byte(`completed"`)) || bytes.Contains(line, []byte(`failed"`)) || bytes.Contains(line, []byte(`\u`))
}

// turnEnded is told when the agent has answered a prompt.
func (i *Instance) turnEnded(session string, err error) {
	if errors.Is(err, ErrEnded) { // the agent has ended: nobody knows what would have come
		return
	}
	i.nets.asked.turnEnded(session)
	i.missed(session, i.nets.wire.TurnEnded(session), false)
}

// missed draws the consequence of approved calls that never arrived. A turn that
// was cancelled makes no difference: the call may have run elsewhere before.
func (i *Instance) missed(session string, calls []nets.Call, failed bool) {
	switch {
	case len(calls) == 0 || i.nets.tripped:
	case failed && !i.nets.dial(i.config.Port):
		i.hold(session, calls[0], ReasonEndpointUnreachable)
	default:
		i.nets.tripped = true
		i.fired(i.missing(session, calls[0], ReasonTripwireFired))
	}
}

// hold ends automatic approval for one session.
func (i *Instance) hold(session string, c nets.Call, reason pipeline.Reason) {
	if i.nets.held[session] == "" {
		i.nets.held[session] = reason
		i.fired(i.missing(session, c, reason))
	}
}

func (i *Instance) missing(session string, c nets.Call, reason pipeline.Reason) Fired {
	tool, _ := pipeline.NewIdentity(pipeline.ClaimTool(i.config.ReservedName, c.Tool))
	return Fired{Instance: i.id, Session: session, Net: audit.Tripwire, Reason: reason, Tool: tool}
}

// maxAlarmed bounds the sessions whose startup alarm is remembered as told.
const maxAlarmed = 4096

// noticed tells which net kept an offer off the automatic path.
func (i *Instance) noticed(number uint64, req *pipeline.Request, r pipeline.Result) {
	f := Fired{Instance: i.id, Session: req.SessionID, Number: number, Reason: r.Facts.Kept, Tool: r.Facts.Identity}
	if _, told := i.nets.alarmed[f.Session]; req.Session.StartupAlarm && !told && len(i.nets.alarmed) < maxAlarmed {
		i.nets.alarmed[f.Session] = struct{}{}
		i.fired(Fired{Instance: i.id, Session: f.Session, Number: number, Net: audit.StartupAlarm, Reason: stages.ReasonStartupAlarm})
	}
	switch f.Reason {
	case stages.ReasonNotContacted, stages.ReasonToolNotOffered, stages.ReasonNoSessionSecret:
		f.Net = audit.Witness
	case stages.ReasonNeverAutomatic:
		f.Net = audit.NeverAutomatic
	default:
		return
	}
	i.fired(f)
}

// reachable says whether something listens on a port of this machine.
func reachable(port int) bool {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(context.Background(), "tcp", net.JoinHostPort("localhost", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}
