package nets_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// starts is an update that begins a call.
func starts(session, call, members string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"tool_call","toolCallId":%q%s}}}`, session, call, members)
}

// asks is an offer that a person has to answer.
func (p *post) asks(session, call string) {
	o := offer(session, call)
	p.Noticed(1, "r-1", o, p.Check(o, pipeline.Result{}))
}

func TestCallsThatRanUnasked(t *testing.T) {
	ran := func(kinds ...audit.Kind) (list []nets.Unasked) {
		for _, k := range kinds {
			list = append(list, nets.Unasked{Session: "s", Kind: k})
		}
		return list
	}
	arrived := nets.Unasked{Session: "s", Arrived: true, Tool: tool("list_tasks")}
	for name, c := range map[string]struct {
		play func(*post)
		want []nets.Unasked
	}{
		"asked":                 {func(p *post) { p.asks("s", "c"); p.ends("s", "c", "completed") }, nil},
		"asked, reported twice": {func(p *post) { p.asks("s", "c"); p.ends("s", "c", "completed"); p.ends("s", "c", "completed") }, nil},
		"asked before it began": {func(p *post) { p.asks("s", "c"); p.Update(starts("s", "c", "")); p.ends("s", "c", "completed") }, nil},
		"asked after it began":  {func(p *post) { p.Update(starts("s", "c", "")); p.asks("s", "c"); p.ends("s", "c", "completed") }, nil},
		"approved": {func(p *post) {
			p.approves("s", "c")
			p.Arrived("1", endpoint.Arrival{Tool: "list_tasks", CallID: "c"})
			p.ends("s", "c", "completed")
		}, nil},
		"without options": {func(p *post) {
			o := offer("s", "c")
			o.Reason = acp.ReasonNoOptions
			p.Noticed(1, "r-1", o, o.Decide(t.Context(), nil))
			p.ends("s", "c", "completed")
		}, nil},
		"nobody was asked":      {func(p *post) { p.ends("s", "c", "completed") }, ran("other")},
		"its kind at the start": {func(p *post) { p.Update(starts("s", "c", `,"kind":"execute"`)); p.ends("s", "c", "completed") }, ran("execute")},
		"in one update":         {func(p *post) { p.Update(starts("s", "c", `,"kind":"read","status":"completed"`)) }, ran("read")},
		"a kind of its own":     {func(p *post) { p.Update(starts("s", "c", `,"kind":"secret","status":"completed"`)) }, ran("other")},
		"reported twice":        {func(p *post) { p.ends("s", "c", "completed"); p.ends("s", "c", "completed") }, ran("other")},
		"two calls":             {func(p *post) { p.ends("s", "c", "completed"); p.ends("s", "d", "completed") }, ran("other", "other")},
		"it failed":             {func(p *post) { p.ends("s", "c", "failed"); p.ends("s", "c", "completed") }, nil},
		"another one was asked": {func(p *post) { p.asks("s", "d"); p.asks("t", "c"); p.ends("s", "c", "completed") }, ran("other")},
		"an id used again": {func(p *post) {
			p.asks("s", "c")
			p.ends("s", "c", "completed")
			p.Update(starts("s", "c", `,"kind":"edit"`))
			p.ends("s", "c", "completed")
		}, ran("edit")},
		"an id asked again": {func(p *post) {
			p.ends("s", "c", "completed")
			p.asks("s", "c")
			p.ends("s", "c", "completed")
		}, ran("other")},
		"replayed": {func(p *post) { p.Replayed(starts("s", "c", `,"status":"completed"`)) }, nil},
		"replayed, and then again": {func(p *post) {
			p.Replayed(starts("s", "c", `,"status":"completed"`))
			p.ends("s", "c", "completed")
		}, nil},
		"it arrived, with its id": {func(p *post) {
			p.Arrived("1", endpoint.Arrival{Tool: "list_tasks", ToolUseID: "c"})
			p.ends("s", "c", "completed")
			p.ends("s", "d", "completed")
		}, append([]nets.Unasked{arrived}, ran("other")...)},
		"it arrived, without one": {func(p *post) {
			p.Arrived("1", endpoint.Arrival{Tool: "list_tasks"})
			p.ends("s", "c", "completed")
			p.ends("s", "d", "completed")
		}, append([]nets.Unasked{arrived}, ran("other")...)},
		"it arrived, and was never reported": {func(p *post) {
			p.Arrived("1", endpoint.Arrival{Tool: "list_tasks"})
			p.TurnEnded("s")
			p.ends("s", "d", "completed")
		}, append([]nets.Unasked{arrived}, ran("other")...)},
		"allowed for good": {func(p *post) {
			p.Allowed(offer("s", "b", pipeline.AllowAlways), tool("list_tasks"), 0)
			p.asks("s", "b")
			for _, call := range []string{"b", "c", "d"} {
				p.Arrived("1", endpoint.Arrival{Tool: "list_tasks"})
				p.ends("s", call, "completed")
			}
		}, nil},
		"a sub-agent asked, its parent reports": {func(p *post) {
			o := offer("sub", "c")
			o.Request.Session.Announced = false
			p.Check(o, pipeline.Result{})
			p.ends("s", "c", "completed")
			p.ends("s", "d", "completed")
		}, ran("other")},
		"no ids": {func(p *post) { p.ends("", "c", "completed"); p.ends("s", "", "completed") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPost()
			c.play(p)
			assert.Equal(t, c.want, p.unasked)
		})
	}
}

// The tool calls of an instance without an injected server count as well.
func TestCallsThatRanUnaskedWithoutAnEndpoint(t *testing.T) {
	var unasked []nets.Unasked
	g := nets.NewGuard(nets.Options{Unasked: func(u nets.Unasked) { unasked = append(unasked, u) }})
	p := &post{Guard: g}
	p.asks("s", "b")
	p.ends("s", "b", "completed")
	p.ends("s", "c", "completed")
	assert.Len(t, unasked, 1)
}

// Of very many calls the latest are remembered, and nothing grows.
func TestCallsThatRanAreBounded(t *testing.T) {
	p := newPost()
	const many = 20_000
	for n := range many {
		p.asks("s", fmt.Sprint(n))
	}
	for n := many - 8000; n < many; n++ {
		p.ends("s", fmt.Sprint(n), "completed")
	}
	assert.Empty(t, p.unasked)
}

// A person's call that finds no room among those that are awaited is no unasked
// one when it arrives.
func TestACallThatFindsNoRoomWasAsked(t *testing.T) {
	for allowed, want := range map[bool]int{true: 0, false: 1} {
		p := newPost()
		for p.approves("s", "x") == "" {
		}
		if allowed {
			p.Allowed(offer("s", "c"), tool("list_tasks"), 0)
		}
		p.Arrived("1", endpoint.Arrival{Tool: "list_tasks", CallID: "c"})
		assert.Len(t, p.unasked, want)
	}
}

// While the end of an approved call may be in a line that nobody could read, a
// person is asked.
func TestGuardAfterALineThatCannotBeRead(t *testing.T) {
	const asked = nets.ReasonEndUnreadable
	deep := `{"params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","rawOutput":` +
		strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001) + `}}}`
	arrives := func(p *post) { p.Arrived("1", endpoint.Arrival{Tool: "list_tasks", CallID: "c1"}) }
	for name, c := range map[string]struct {
		play func(*post)
		want pipeline.Reason
	}{
		"one is awaited":              {func(p *post) { p.approves("s", "c1"); p.Unreadable() }, asked},
		"nothing is awaited":          {func(p *post) { p.Unreadable() }, ""},
		"it is awaited since":         {func(p *post) { p.Unreadable(); p.approves("s", "c1") }, ""},
		"it had arrived":              {func(p *post) { p.approves("s", "c1"); arrives(p); p.Unreadable() }, ""},
		"it arrives":                  {func(p *post) { p.approves("s", "c1"); p.Unreadable(); arrives(p) }, ""},
		"its end comes after it":      {func(p *post) { p.approves("s", "c1"); p.Unreadable(); p.ends("s", "c1", "completed") }, nets.ReasonTripwireFired},
		"the turn ends":               {func(p *post) { p.approves("s", "c1"); p.Unreadable(); p.TurnEnded("s") }, nets.ReasonTripwireFired},
		"it was not sent":             {func(p *post) { p.approves("s", "c1"); p.Unreadable(); p.Withdraw(offer("s", "c1")) }, ""},
		"it was a person's":           {func(p *post) { p.Allowed(offer("s", "c1"), tool("list_tasks"), 0); p.Unreadable() }, ""},
		"an update that is too deep":  {func(p *post) { p.approves("s", "c1"); p.Update([]byte(deep)) }, asked},
		"an update that is broken":    {func(p *post) { p.approves("s", "c1"); p.Update([]byte(deep[:150])) }, asked},
		"an update that ends nothing": {func(p *post) { p.approves("s", "c1"); p.Update([]byte(`{"params":{"tool_call":[`)) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPost()
			c.play(p)
			assert.Equal(t, c.want, p.approves("s", "c2"))
		})
	}
}

func TestGuardTellsAStartupAlarmOnce(t *testing.T) {
	p := newPost()
	p.Alarm("s")
	p.Alarm("s")
	o := offer("s", "c")
	o.Request.Session.StartupAlarm = true
	p.Noticed(1, "r-1", o, pipeline.Result{})
	assert.Len(t, p.fired, 1)
	assert.Equal(t, audit.StartupAlarm, p.fired[0].Net)
	p.Alarm("t")
	assert.Len(t, p.fired, 2)
}

// A firing names the offer that it is about.
func TestGuardNamesTheOffer(t *testing.T) {
	p := newPost()
	for n, call := range []string{"c1", "c2"} {
		o := offer("s", call)
		p.Noticed(uint64(n), fmt.Sprint("r-", n), o, p.Check(o, approved()))
	}
	p.ends("s", "c2", "completed")
	o := offer("nobody's", "c3")
	p.Noticed(2, "r-2", o, p.Check(o, approved())) // tripwire_fired: told before
	assert.Len(t, p.fired, 1)
	assert.Equal(t, "r-1", p.fired[0].Request)
	assert.Zero(t, p.fired[0].Number)
}

// A net that the guard is itself, also without a witness in the order.
func TestGuardTellsThatASessionHasNoSecret(t *testing.T) {
	p := newPost()
	for session, want := range map[string][]nets.Fired{
		"s":        nil,
		"nobody's": {{Session: "nobody's", Number: 7, Request: "r-7", Net: audit.Witness, Reason: "session_without_secret", Tool: tool("list_tasks")}},
	} {
		p.fired = nil
		o := offer(session, "c1")
		p.Noticed(7, "r-7", o, p.Check(o, approved()))
		assert.Equal(t, want, p.fired)
	}
}
