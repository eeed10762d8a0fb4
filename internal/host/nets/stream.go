package nets

import (
	"bytes"
	"cmp"
	"context"
	"net"
	"strconv"
	"time"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/pipeline"
)

// Update takes a session/update of the agent: a call may begin or be over.
func (g *Guard) Update(line []byte) {
	if u, ok := g.read(line); ok {
		if g.options.Beside == nil {
			g.ranElsewhere(u)
		}
		g.ended(u)
	}
}

// ranElsewhere tells of a call that has run and nobody was asked about.
func (g *Guard) ranElsewhere(u update) {
	if unasked, kind := g.ran.update(u); unasked {
		g.options.Unasked(Unasked{Session: u.session, Kind: cmp.Or(kind, audit.KindOther)})
	}
}

// Replayed takes an update that repeats the history of a session: see
// [acp.Message]. Nothing in it runs now.
func (g *Guard) Replayed(line []byte) {
	if u, ok := g.read(line); ok {
		g.ran.replayed(u)
		g.ended(u)
	}
}

// read reads an update if a call begins or ends in it.
func (g *Guard) read(line []byte) (update, bool) {
	ends := mayEndCall(line)
	if !mayBeCall(line) || !ends && !mayStartCall(line) {
		return update{}, false
	}
	u, about, ok := readUpdate(line)
	if !ok && ends {
		g.Unreadable()
	}
	return u, ok && about && u.session != "" && u.call != ""
}

func (g *Guard) ended(u update) {
	if u.status != "" {
		g.asked.ended(u.session, u.call)
		g.missed(u.session, g.wire.Ended(u.session, u.call), u.status == statusFailed)
	}
}

// Unreadable says that a line of the agent could not be read: it was too long or
// too deep, or a batch. An approved call may have ended in it, so while such a call
// has not arrived a person is asked.
func (g *Guard) Unreadable() { g.wire.Unreadable() }

// mayBeCall rules out most updates without decoding them, like the two below: the
// words can only be missing where they are written with escapes.
func mayBeCall(line []byte) bool {
	return bytes.Contains(line, []byte(`tool_call`)) || bytes.Contains(line, []byte(`\u`))
}

func mayStartCall(line []byte) bool {
	return bytes.Contains(line, []byte(`"tool_call"`)) || bytes.Contains(line, []byte(`\u`))
}

func mayEndCall(line []byte) bool {
	return bytes.Contains(line, []byte(`completed"`)) || bytes.Contains(line, []byte(`failed"`)) || bytes.Contains(line, []byte(`\u`))
}

// TurnEnded says that the agent has answered a prompt of the session.
func (g *Guard) TurnEnded(session string) {
	g.asked.turnEnded(session)
	g.ran.turnEnded(session)
	g.missed(session, g.wire.TurnEnded(session), false)
}

// missed draws the consequence of approved calls that never arrived. A turn that
// was cancelled makes no difference: the call may have run elsewhere before.
func (g *Guard) missed(session string, calls []Call, failed bool) {
	if len(calls) == 0 {
		return
	}
	reason := ReasonTripwireFired
	if failed && !g.isTripped() && !g.options.Dial(g.options.Port) {
		reason = ReasonEndpointUnreachable
	}
	if g.lose(session, reason) {
		g.options.Fired(Fired{Session: session, Request: calls[0].Request, Net: audit.Tripwire, Reason: reason, Tool: g.tool(calls[0].Tool)})
	}
}

func (g *Guard) isTripped() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tripped
}

// lose ends automatic approval, for the session alone where the endpoint was down.
// It is false when it was over before.
func (g *Guard) lose(session string, reason pipeline.Reason) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.tripped, reason == ReasonEndpointUnreachable && g.held[session] != "":
		return false
	case reason == ReasonEndpointUnreachable:
		g.held[session] = reason
	default:
		g.tripped = true
	}
	return true
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
