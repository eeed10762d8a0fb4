package demoagent

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/endpoint"
)

// visits are what reached the injected server, in order.
type visits struct {
	mu   sync.Mutex
	list []string
}

func (v *visits) add(what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.list = append(v.list, what)
}

func (v *visits) all() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string{}, v.list...)
}

// witness tells sessions apart by the order in which they were made.
type witness struct {
	*visits
	names map[endpoint.SessionID]string
}

func (w witness) Listed(s endpoint.SessionID, _ []string) { w.add(w.names[s] + " listed") }
func (w witness) Arrived(s endpoint.SessionID, a endpoint.Arrival) {
	w.add(w.names[s] + " called " + a.Tool + " " + a.ToolUseID)
}

// stageFor is an agent in an act with two sessions "one" and "two" of a real
// injected endpoint, each with a secret of its own.
func stageFor(t *testing.T, act Act) (c *client, sessions []string, seen *visits) {
	t.Helper()
	w := witness{&visits{}, map[endpoint.SessionID]string{}}
	e, err := endpoint.Open(context.Background(), endpoint.Options{Observer: w})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, e.Close()) })
	c = start(t, Options{Act: act})
	secrets := map[string]*endpoint.Session{}
	for _, name := range []string{"one", "two"} {
		s, err := e.NewSession()
		require.NoError(t, err)
		w.names[s.ID()], secrets[name] = name, s
	}
	for _, name := range []string{"one", "two"} {
		c.open(entry("http", "kandev", fmt.Sprintf("http://localhost:%d/mcp", e.Port()), nameValue{"Authorization", secrets[name].Authorization()}))
		sessions = append(sessions, c.session)
	}
	return c, sessions, w.visits
}

// withoutIDs makes the frames of two agents comparable.
func withoutIDs(frames []incomingFrame, session string) (lines []string) {
	for _, f := range frames {
		lines = append(lines, strings.ReplaceAll(f.line, session, "SESSION"))
	}
	return lines
}

// offersOf are the permission requests among the frames.
func offersOf(frames []incomingFrame) (offers []incomingFrame) {
	for _, f := range frames {
		if f.Offer != nil {
			offers = append(offers, f)
		}
	}
	return offers
}

func TestActs(t *testing.T) {
	listed := []string{"one listed", "two listed"}
	for act, want := range map[Act]struct {
		visits []string // what reached the injected server
		status string   // how the calls of the second session ended
		output string
	}{
		Honest:         {append(listed, "two called list_tasks_kandev toolu_demo1", "two called list_tasks_kandev toolu_demo2"), "completed", "tasks"},
		Dropped:        {[]string{}, "completed", foreignAnswer},
		NeverArrives:   {listed, "completed", foreignAnswer},
		FailsElsewhere: {listed, "failed", foreignFailure},
		Borrows: {[]string{"one listed", "one listed", "one called list_tasks_kandev toolu_demo1", "one called list_tasks_kandev toolu_demo2"},
			"completed", "tasks"},
	} {
		t.Run(string(act), func(t *testing.T) {
			c, _, seen := stageFor(t, act)
			got := c.prompt("list-tasks list-tasks", always(selects("allow-once")))
			require.NoError(t, c.end())
			assert.Equal(t, want.visits, seen.all())
			assert.Equal(t, []string{listName, listName}, got.asked, "it asks each time")
			assert.Equal(t, []string{want.status, want.status}, got.ends)
			assert.Contains(t, toJSON(updates(got.frames)), want.output)
		})
	}
}

// Nothing in what it asks tells an act from an honest agent.
func TestActsAskLikeAnHonestAgent(t *testing.T) {
	asked := map[Act][]string{}
	for _, act := range append(Acts(), Honest) {
		c, sessions, _ := stageFor(t, act)
		got := c.prompt("list-tasks list-tasks", always(selects("allow-once")))
		asked[act] = withoutIDs(offersOf(got.frames), sessions[1])
		require.Len(t, asked[act], 2)
		require.NoError(t, c.end())
	}
	for _, act := range Acts() {
		assert.Equal(t, asked[Honest], asked[act], act)
	}
}

// What is not allowed runs nowhere, in no act.
func TestActsObeyARefusal(t *testing.T) {
	for _, act := range Acts() {
		c, _, seen := stageFor(t, act)
		before := seen.all()
		got := c.prompt("list-tasks plan", always(answerCancelled))
		require.NoError(t, c.end())
		assert.Equal(t, before, seen.all(), act)
		assert.Equal(t, []string{"failed", "failed", "failed"}, got.ends)
		assert.NotContains(t, toJSON(updates(got.frames)), "by another server")
	}
}

// An act is about the injected server alone.
func TestActsLeaveOtherServersAlone(t *testing.T) {
	for _, act := range Acts() {
		ran, servers := twoServers(t)
		c := start(t, Options{Act: act})
		c.open(servers...)
		c.prompt("other", always(selects("allow-once")))
		require.NoError(t, c.end())
		assert.Equal(t, []string{"other/ping"}, ran.tools(), act)
	}
}

func TestThereAreNoOtherActs(t *testing.T) {
	var out strings.Builder
	err := Run(context.Background(), strings.NewReader(initializeLine), &out, nil, Options{Act: "hamlet"})
	assert.EqualError(t, err, `demoagent: there is no act "hamlet": use one of dropped, never-arrives, fails-elsewhere, borrows`)
	assert.Empty(t, out.String())
}

func TestTheWordShadowTellsHow(t *testing.T) {
	c := start(t, Options{})
	c.open()
	got := c.prompt("shadow", always(answerCancelled))
	assert.Contains(t, got.said, "assent run --demo --prompt shadow")
	assert.Empty(t, got.asked)
	require.NoError(t, c.end())
}
