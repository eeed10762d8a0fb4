package shadow

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/demoagent"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/stages"
)

// agentVariable makes the test binary the demo agent.
const agentVariable = "SHADOW_TEST_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(agentVariable) != "" {
		os.Exit(demoagent.Main())
	}
	goleak.VerifyTestMain(m)
}

// answerer answers everything that waits.
type answerer struct {
	store  *pending.Store
	answer pending.Answer
}

func (answerer) Updated(context.Context, process.Update)    {}
func (answerer) Decided(context.Context, process.Decided)   {}
func (answerer) Answered(context.Context, process.Answered) {}
func (a answerer) Asked(_ context.Context, q process.Question) {
	_ = a.store.Resolve(q.Key, a.answer, pending.Responder{Name: "a test"})
}

// newHost makes a host; witness says whether that net is there.
func newHost(t *testing.T, answer pending.Answer, witness bool) *Host {
	t.Helper()
	set, err := dialects.Index(dialects.All())
	require.NoError(t, err)
	order, factories := stages.DefaultOrder(), stages.Builtin(set)
	if witness {
		order, factories = stages.HostOrder(), append(factories, stages.WitnessFactory())
	}
	pipelines, err := stages.NewPipelineFactory(order, factories)
	require.NoError(t, err)
	store := pending.New(pending.Config{})
	t.Cleanup(store.Close)
	store.Attach(pending.Scope{})
	h, err := NewHost(Options{
		Pipelines: pipelines, Dialects: set, Store: store, Watcher: answerer{store, answer},
		Agent: process.Command{Path: os.Args[0], Env: append(os.Environ(), agentVariable+"=1", "GORACE=atexit_sleep_ms=0")},
	})
	require.NoError(t, err)
	return h
}

// Whatever a person answers, the nets hold.
func TestTheNetsHold(t *testing.T) {
	for name, answer := range map[string]pending.Answer{"allow": pending.Allow(), "deny": pending.Deny(), "cancel": pending.Cancel()} {
		t.Run(name, func(t *testing.T) {
			allowed := name == "allow"
			host := newHost(t, answer, true)
			asked := Ask{Allowed: allowed, Reason: stages.ReasonNotContacted}
			for act, want := range map[demoagent.Act]Report{
				demoagent.Dropped: {Asks: []Ask{asked, asked}},
				demoagent.NeverArrives: {Listed: 1, Asks: []Ask{
					{Automatic: true, Reason: stages.ReasonInjectedMCP}, {Allowed: allowed, Reason: nets.ReasonTripwireFired}}},
				demoagent.FailsElsewhere: {Listed: 1, Asks: []Ask{
					{Automatic: true, Reason: stages.ReasonInjectedMCP}, {Allowed: allowed, Reason: nets.ReasonTripwireFired}}},
				demoagent.Borrows: {Asks: []Ask{asked, asked}, Before: &Before{Approved: 2, Arrived: 2}},
			} {
				got, err := host.Play(t.Context(), act)
				require.NoError(t, err)
				require.NoError(t, got.Check(), act)
				fired := got.Fired
				want.Act, got.Fired = act, nil
				if act == demoagent.Borrows && allowed { // they arrive, with a secret that is not theirs
					want.Unasked, want.Before.Arrived = 2, 4
				}
				assert.Equal(t, want, got)
				assert.Len(t, fired, map[audit.Net]int{audit.Witness: 2, audit.Tripwire: 1}[Net(act)])
			}
		})
	}
}

// Without the witness the first and the fourth act get through, and that shows.
func TestItCanFail(t *testing.T) {
	host := newHost(t, pending.Deny(), false)
	for act, want := range map[demoagent.Act]string{
		demoagent.Dropped:        "request 1 was approved automatically (injected_mcp)",
		demoagent.Borrows:        "request 1 was approved automatically (injected_mcp)",
		demoagent.NeverArrives:   "",
		demoagent.FailsElsewhere: "",
	} {
		got, err := host.Play(t.Context(), act)
		require.NoError(t, err)
		if want == "" {
			assert.NoError(t, got.Check())
			continue
		}
		assert.EqualError(t, got.Check(), want)
		assert.Equal(t, want, got.Says())
	}
}

func TestAnActThatCannotBePlayed(t *testing.T) {
	host := newHost(t, pending.Deny(), true)
	host.options.Agent.Path = "no-such-agent"
	_, err := host.Play(t.Context(), demoagent.Dropped)
	assert.Error(t, err)

	host = newHost(t, pending.Deny(), true)
	_, err = host.Play(t.Context(), "no such act") // the agent refuses it
	assert.Error(t, err)
}

func TestCheck(t *testing.T) {
	approved := Ask{Automatic: true, Reason: stages.ReasonInjectedMCP}
	unseen := Ask{Reason: stages.ReasonNotContacted}
	after := Ask{Reason: nets.ReasonTripwireFired}
	fired := func(net audit.Net, times int) (list []process.Fired) {
		for range times {
			list = append(list, process.Fired{Fired: nets.Fired{Net: net, Reason: "r"}})
		}
		return list
	}
	for name, test := range map[string]struct {
		report Report
		want   string
	}{
		"asked once":              {Report{Act: demoagent.Dropped, Asks: []Ask{unseen}}, "the agent asked 1 times instead of twice"},
		"the second one approved": {Report{Act: demoagent.Dropped, Asks: []Ask{unseen, approved}}, "request 2 was approved automatically (injected_mcp)"},
		"another reason":          {Report{Act: demoagent.Borrows, Asks: []Ask{unseen, after}}, "request 2 was asked about for another reason: tripwire_fired"},
		"nothing to borrow":       {Report{Act: demoagent.Borrows, Asks: []Ask{unseen, unseen}, Before: &Before{Approved: 1}}, "the first session, which behaves, had 1 calls approved and 0 arrivals"},
		"the witness was silent":  {Report{Act: demoagent.Dropped, Asks: []Ask{unseen, unseen}, Fired: fired(audit.Witness, 1)}, "the witness fired 1 times instead of 2"},
		"another net":             {Report{Act: demoagent.Dropped, Asks: []Ask{unseen, unseen}, Fired: fired(audit.Tripwire, 2)}, "another net fired: tripwire (r)"},
		"nothing approved":        {Report{Act: demoagent.NeverArrives, Asks: []Ask{unseen, unseen}}, "the first request was not approved (injected_server_not_contacted), so there was nothing to notice"},
		"it arrived":              {Report{Act: demoagent.NeverArrives, Arrived: 1, Asks: []Ask{approved, after}}, "1 calls arrived at the injected server"},
		"still automatic":         {Report{Act: demoagent.NeverArrives, Asks: []Ask{approved, approved}}, "the second request was approved automatically, too (injected_mcp)"},
		"asked for no reason":     {Report{Act: demoagent.FailsElsewhere, Asks: []Ask{approved, unseen}}, "the second request was asked about for another reason: injected_server_not_contacted"},
		"fired twice":             {Report{Act: demoagent.FailsElsewhere, Asks: []Ask{approved, after}, Fired: fired(audit.Tripwire, 2)}, "the tripwire fired 2 times instead of 1"},
		"all is well":             {Report{Act: demoagent.FailsElsewhere, Asks: []Ask{approved, after}, Fired: fired(audit.Tripwire, 1)}, ""},
	} {
		err := test.report.Check()
		if test.want == "" {
			assert.NoError(t, err, name)
			continue
		}
		assert.EqualError(t, err, test.want, name)
	}
}

func TestEveryActIsTold(t *testing.T) {
	for _, act := range demoagent.Acts() {
		assert.NotEqual(t, string(act), Tells(act))
	}
}
