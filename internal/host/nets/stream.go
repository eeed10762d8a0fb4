package nets

import (
	"bytes"
	"context"
	"net"
	"strconv"
	"time"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/pipeline"
)

// Update takes a session/update of the agent: a call may be over.
func (g *Guard) Update(line []byte) {
	if g.options.Port == 0 || !mayEndCall(line) {
		return
	}
	u, ok := readUpdate(line)
	if !ok || u.status == "" {
		return
	}
	g.asked.ended(u.session, u.call)
	g.missed(u.session, g.wire.Ended(u.session, u.call), u.status == statusFailed)
}

// mayEndCall rules out most updates without decoding them: the word can only be
// missing where it is written with escapes.
func mayEndCall(line []byte) bool {
	return bytes.Contains(line, []byte(`completed"`)) || bytes.Contains(line, []byte(`failed"`)) || bytes.Contains(line, []byte(`\u`))
}

// TurnEnded says that the agent has answered a prompt of the session.
func (g *Guard) TurnEnded(session string) {
	g.asked.turnEnded(session)
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
		g.options.Fired(Fired{Session: session, Net: audit.Tripwire, Reason: reason, Tool: g.tool(calls[0].Tool)})
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
