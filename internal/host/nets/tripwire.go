// Package nets holds what is stretched around the pipeline: it notices when an
// approved call did not do what it was approved for, and when a call ran that
// nobody was asked about.
//
// A host makes one [Guard] per agent instance and tells it everything: of the
// injected server's secrets ([Guard.Expect], [Guard.Bind], [Guard.Forget]) and what
// is done with them, since it is the endpoint's observer; of each offer, before the
// decision ([Guard.Witness]), between decision and answer ([Guard.Check],
// [Guard.Noticed]), and when a person allows it ([Guard.Allowed]) or an approval is
// not sent ([Guard.Withdraw]); and of the agent's stream ([Guard.Update],
// [Guard.Replayed], [Guard.Alarm], [Guard.Unreadable], [Guard.TurnEnded]).
package nets

import (
	"slices"
	"sync"

	"github.com/kandev/assent/pipeline"
)

// Call is one tool call of the injected server that was allowed.
type Call struct {
	// ID is the agent's toolCallId, Tool the name that passed the parser.
	ID, Tool string
	// Automatic: no person was asked. Only such a call can trip the wire, but
	// every allowed call uses up its own arrival.
	Automatic bool
	// Request is the host's id of the offer; empty until [Tripwire.Name].
	Request string
}

// Arrival is one tools/call as it reached the endpoint in a session.
type Arrival struct {
	// Tool is the name that was called, as the endpoint has it.
	Tool string
	// IDs are what the call's metadata says to be the agent's toolCallId; empty
	// texts say nothing. Claude sends one, and so does Codex.
	IDs []string
}

// maxCalls bounds the calls of one session that are waited for.
const maxCalls = 4096

// Tripwire wants an arrival of its own for each automatically approved call, in
// its own session. An agent reports the end of a call after the endpoint served
// it, so an arrival that is missing then will not come. It is safe for concurrent
// use.
type Tripwire struct {
	mu       sync.Mutex
	sessions map[string][]*expected
	doubted  bool // some call may be doubted
}

type expected struct {
	Call
	arrived bool
	doubted bool // its end may have been in a line that could not be read
}

// NewTripwire makes one for one agent instance.
func NewTripwire() *Tripwire { return &Tripwire{sessions: map[string][]*expected{}} }

// Expect says that a call was allowed, before the agent learns of it. It is false
// when too many are waited for: then nothing more may be approved automatically.
func (t *Tripwire) Expect(session string, c Call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.sessions[session]) >= maxCalls {
		return false
	}
	t.sessions[session] = append(t.sessions[session], &expected{Call: c})
	return true
}

// Name says under which id the host keeps the offer of the call that was last
// allowed.
func (t *Tripwire) Name(session, id, request string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	calls := t.sessions[session]
	for i := len(calls) - 1; i >= 0; i-- {
		if calls[i].ID == id {
			calls[i].Request = request
			return
		}
	}
}

// Unreadable says that any call may have ended unseen.
func (t *Tripwire) Unreadable() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, calls := range t.sessions {
		for _, c := range calls {
			c.doubted = true
			t.doubted = true
		}
	}
}

// Doubtful says whether an automatically approved call that has neither arrived nor
// ended, as far as anybody could read, was awaited when a line could not be read.
func (t *Tripwire) Doubtful() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.doubted {
		return false
	}
	for _, calls := range t.sessions {
		if slices.ContainsFunc(calls, func(c *expected) bool { return c.doubted && c.Automatic && !c.arrived }) {
			return true
		}
	}
	t.doubted = false
	return false
}

// Withdraw takes the last expectation of a call back: its approval never reached
// the agent.
func (t *Tripwire) Withdraw(session, id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	calls := t.sessions[session]
	for i := len(calls) - 1; i >= 0; i-- {
		if calls[i].ID == id && !calls[i].arrived {
			t.keep(session, slices.Delete(calls, i, i+1))
			return
		}
	}
}

// Arrived says that a call reached the endpoint in a session. It is false when no
// allowed call is for it: the agent ran a tool without having asked.
func (t *Tripwire) Arrived(session string, a Arrival) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	tool := pipeline.FlatName(a.Tool)
	ids := slices.DeleteFunc(slices.Clone(a.IDs), func(id string) bool { return id == "" })
	for _, c := range t.sessions[session] {
		named := len(ids) == 0 || !slices.ContainsFunc(ids, func(id string) bool { return id != c.ID })
		if !c.arrived && c.Tool == tool && named {
			c.arrived = true
			return true
		}
	}
	return false
}

// Ended says that a call has ended, completed or failed. It returns the
// automatically approved calls of this id that never arrived.
func (t *Tripwire) Ended(session, id string) []Call {
	return t.end(session, func(c Call) bool { return c.ID == id })
}

// TurnEnded says that the turn of a session is over: what has not arrived by now
// will not.
func (t *Tripwire) TurnEnded(session string) []Call {
	return t.end(session, func(Call) bool { return true })
}

func (t *Tripwire) end(session string, over func(Call) bool) (missed []Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep(session, slices.DeleteFunc(t.sessions[session], func(c *expected) bool {
		if !over(c.Call) {
			return false
		}
		if c.Automatic && !c.arrived {
			missed = append(missed, c.Call)
		}
		return true
	}))
	return missed
}

func (t *Tripwire) keep(session string, calls []*expected) {
	if len(calls) == 0 {
		delete(t.sessions, session)
		return
	}
	t.sessions[session] = calls
}
