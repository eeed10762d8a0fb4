package nets

import (
	"slices"
	"sync"

	"github.com/kandev/assent/pipeline"
)

// maxAskedCalls bounds what is remembered of calls that were allowed without
// being known for calls of the endpoint. Beyond it nothing is said to be unasked.
const maxAskedCalls = 4096

// askedCalls remembers what was allowed and may reach the endpoint although the
// tripwire does not wait for it: calls of agents that do not name their tools, of
// sessions without a secret, and what was allowed for good. It only keeps calls
// from being counted as unasked, and decides nothing.
type askedCalls struct {
	mu    sync.Mutex
	calls []askedCall
	good  map[askedCall]struct{} // allowed for good: session and tool, or no tool
	lost  bool                   // the bound was met
}

type askedCall struct{ session, call string }

// allow notes a call that may be for the endpoint.
func (a *askedCalls) allow(session, call string, always bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if always {
		a.keep(askedCall{session: session})
	}
	if a.lost = a.lost || len(a.calls) >= maxAskedCalls; !a.lost {
		a.calls = append(a.calls, askedCall{session, call})
	}
}

// always notes a tool that was allowed for good.
func (a *askedCalls) always(session, tool string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.keep(askedCall{session, tool})
}

func (a *askedCalls) keep(c askedCall) {
	if a.lost = a.lost || len(a.good) >= maxAskedCalls; a.lost {
		return
	}
	if a.good == nil {
		a.good = map[askedCall]struct{}{}
	}
	a.good[c] = struct{}{}
}

// accounts says whether somebody was asked for what arrived, and uses that up.
// Offered says that the agent had asked for this very call.
func (a *askedCalls) accounts(session string, arrival Arrival) (known, offered bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := slices.IndexFunc(a.calls, func(c askedCall) bool { return len(arrival.IDs) == 0 || slices.Contains(arrival.IDs, c.call) })
	if at >= 0 {
		a.calls = slices.Delete(a.calls, at, at+1)
		return true, true
	}
	_, tool := a.good[askedCall{session, pipeline.FlatName(arrival.Tool)}]
	_, all := a.good[askedCall{session: session}]
	return tool || all || a.lost, false
}

// ended forgets a call that is over, and turnEnded all of a session.
func (a *askedCalls) ended(session, call string) {
	a.forget(func(c askedCall) bool { return c == askedCall{session, call} })
}
func (a *askedCalls) turnEnded(session string) {
	a.forget(func(c askedCall) bool { return c.session == session })
}

func (a *askedCalls) forget(over func(askedCall) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = slices.DeleteFunc(a.calls, over)
}
