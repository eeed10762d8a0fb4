package shadow

import (
	"fmt"

	"github.com/kandev/assent/internal/demoagent"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/stages"
)

// Ask is one request for the tool of the injected server.
type Ask struct {
	// Automatic says that it was approved without anybody being asked.
	Automatic bool
	// Allowed says that a person allowed it, or who answers for one.
	Allowed bool
	Reason  pipeline.Reason
}

// Report is what an act showed, in its last session: the one that is played.
type Report struct {
	Act  demoagent.Act
	Asks []Ask
	// Fired are the nets that fired in that session, with their reasons.
	Fired []process.Fired
	// Listed and Arrived are how often the injected server was asked for its
	// tools, and was called, with that session's own secret.
	Listed, Arrived int
	// Unasked calls reached the injected server, in whichever session.
	Unasked int
	// Before is how an earlier session fared, which behaved.
	Before *Before
}

// Before is the first session of an agent that borrows: it calls two times and
// both calls arrive.
type Before struct{ Approved, Arrived int }

// Net is the net that has to hold in an act.
func Net(act demoagent.Act) audit.Net {
	if act == demoagent.NeverArrives || act == demoagent.FailsElsewhere {
		return audit.Tripwire
	}
	return audit.Witness
}

// report sums up.
func (w *watch) report(act demoagent.Act) Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := Report{Act: act, Unasked: w.unasked}
	last := len(w.sessions) - 1
	for n, session := range w.sessions {
		secret, _ := session.EndpointSession()
		asks := w.asks(session.ID())
		if n < last {
			r.Before = &Before{Approved: automatic(asks), Arrived: w.arrived[secret]}
			continue
		}
		r.Asks, r.Listed, r.Arrived = asks, w.listed[secret], w.arrived[secret]
		for _, f := range w.fired {
			if f.Session == session.ID() {
				r.Fired = append(r.Fired, f)
			}
		}
	}
	return r
}

func (w *watch) asks(session string) (asks []Ask) {
	for _, d := range w.decided {
		if d.session == session {
			asks = append(asks, Ask{Automatic: d.Verdict == pipeline.Select, Allowed: w.allowed[d.number], Reason: d.Reason})
		}
	}
	return asks
}

func automatic(asks []Ask) (n int) {
	for _, a := range asks {
		if a.Automatic {
			n++
		}
	}
	return n
}

// Check says whether the net that is meant for the act held; the error says what
// went wrong.
func (r Report) Check() error {
	if len(r.Asks) != 2 {
		return fmt.Errorf("the agent asked %d times instead of twice", len(r.Asks))
	}
	if Net(r.Act) == audit.Tripwire {
		return r.checkTripwire()
	}
	return r.checkWitness()
}

// checkWitness wants both requests kept off the automatic path.
func (r Report) checkWitness() error {
	if b := r.Before; b != nil && (b.Approved != 2 || b.Arrived < 2) {
		return fmt.Errorf("the first session, which behaves, had %d calls approved and %d arrivals", b.Approved, b.Arrived)
	}
	for n, a := range r.Asks {
		switch {
		case a.Automatic:
			return fmt.Errorf("request %d was approved automatically (%s)", n+1, a.Reason)
		case a.Reason != stages.ReasonNotContacted:
			return fmt.Errorf("request %d was asked about for another reason: %s", n+1, a.Reason)
		}
	}
	return r.fired(audit.Witness, 2)
}

// checkTripwire wants the first request approved, since nothing can be known by
// then, one firing, and the second one asked about.
func (r Report) checkTripwire() error {
	switch first, second := r.Asks[0], r.Asks[1]; {
	case !first.Automatic:
		return fmt.Errorf("the first request was not approved (%s), so there was nothing to notice", first.Reason)
	case r.Arrived > 0:
		return fmt.Errorf("%d calls arrived at the injected server", r.Arrived)
	case second.Automatic:
		return fmt.Errorf("the second request was approved automatically, too (%s)", second.Reason)
	case second.Reason != nets.ReasonTripwireFired:
		return fmt.Errorf("the second request was asked about for another reason: %s", second.Reason)
	}
	return r.fired(audit.Tripwire, 1)
}

// fired wants a net to have fired so many times, and no other net.
func (r Report) fired(net audit.Net, times int) error {
	for _, f := range r.Fired {
		if f.Net != net {
			return fmt.Errorf("another net fired: %s (%s)", f.Net, f.Reason)
		}
	}
	if len(r.Fired) != times {
		return fmt.Errorf("the %s fired %d times instead of %d", net, len(r.Fired), times)
	}
	return nil
}

// Tells says in a few words what an act is.
func Tells(act demoagent.Act) string {
	switch act {
	case demoagent.Dropped:
		return "the agent never contacts the injected server, and asks for its tool all the same"
	case demoagent.NeverArrives:
		return "the agent lists the injected server's tools, and runs the approved call elsewhere"
	case demoagent.FailsElsewhere:
		return "the agent lists the injected server's tools, and the approved call fails elsewhere"
	case demoagent.Borrows:
		return "one session lists the tools with the secret of another one, and asks in its own name"
	}
	return string(act)
}

// Says tells what happened, in one line.
func (r Report) Says() string {
	if err := r.Check(); err != nil {
		return err.Error()
	}
	if Net(r.Act) == audit.Tripwire {
		return fmt.Sprintf("the first call was approved and did not arrive: fired once; the next request was asked about (%s)", r.Asks[1].Reason)
	}
	said := fmt.Sprintf("nothing was approved: both requests were asked about (%s)", r.Asks[0].Reason)
	if r.Before != nil {
		said += "; the first session's own calls were approved and arrived"
	}
	return said
}
