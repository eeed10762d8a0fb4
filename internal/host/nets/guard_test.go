package nets_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
	"github.com/kandev/assent/stages"
)

// post is a guard of one instance, and what it told.
type post struct {
	*nets.Guard
	up bool // the endpoint can be reached

	mu      sync.Mutex
	fired   []nets.Fired
	unasked []nets.Unasked
}

// newPost makes a guard with the session "s", which has the secret "1" and listed
// the tools with it.
func newPost() *post {
	p := &post{up: true}
	p.Guard = nets.NewGuard(nets.Options{
		Reserved: "kandev", Port: 4000, Dial: func(int) bool { return p.up },
		Fired: func(f nets.Fired) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.fired = append(p.fired, f)
		},
		Unasked: func(u nets.Unasked) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.unasked = append(p.unasked, u)
		},
	})
	p.Expect("1")
	p.Bind("1", "s")
	p.Listed("1", []string{"list_tasks"})
	return p
}

func offer(session, call string, kinds ...string) *acp.Offer {
	o := &acp.Offer{Request: pipeline.Request{SessionID: session, Call: pipeline.ToolCall{ID: call}, Session: pipeline.Session{Announced: true}}}
	for n, kind := range append(kinds, pipeline.AllowOnce) {
		o.Request.Options = append(o.Request.Options, pipeline.Option{ID: fmt.Sprint(n), Kind: kind})
	}
	return o
}

// approved is what the pipeline says of a tool of the injected server.
func approved() pipeline.Result {
	return pipeline.Result{
		Decision: pipeline.Decision{Verdict: pipeline.Select, Reason: stages.ReasonInjectedMCP}, Stage: stages.OptionName,
		Facts: pipeline.Facts{Identity: tool("list_tasks"), Injected: true},
	}
}

func tool(name string) pipeline.Identity {
	id, _ := pipeline.NewIdentity(pipeline.ClaimTool("kandev", name))
	return id
}

// approves lets the guard check an automatic approval; the reason is empty when it
// stays one.
func (p *post) approves(session, call string) pipeline.Reason {
	r := p.Check(offer(session, call), approved())
	if r.Decision.Verdict == pipeline.Select {
		return ""
	}
	return r.Decision.Reason
}

func (p *post) ends(session, call, status string) {
	p.Update(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"tool_call_update","toolCallId":%q,"status":%q}}}`, session, call, status))
}

func TestGuardWatchesWhatItLetsPass(t *testing.T) {
	p := newPost()
	r := p.Check(offer("s", "c1"), approved())
	assert.Equal(t, approved(), r, "an approval stays as it is")
	p.Arrived("1", endpoint.Arrival{Tool: "list_tasks", ToolUseID: "c1"})
	p.ends("s", "c1", "completed")
	assert.Empty(t, p.approves("s", "c2"))
	assert.Empty(t, p.fired)
	p.ends("s", "c2", "completed")
	require.Equal(t, []nets.Fired{{Session: "s", Net: audit.Tripwire, Reason: nets.ReasonTripwireFired, Tool: tool("list_tasks")}}, p.fired)
	assert.Equal(t, nets.ReasonTripwireFired, p.approves("s", "c3"))
	p.ends("s", "c2", "completed")
	assert.Len(t, p.fired, 1)
	assert.Empty(t, p.unasked)
}

func TestGuardHoldsTheSessionWhoseEndpointIsDown(t *testing.T) {
	p := newPost()
	p.Expect("2")
	p.Bind("2", "t")
	p.up = false
	for _, call := range []string{"c1", "c2"} {
		assert.Empty(t, p.approves("s", call))
	}
	p.ends("s", "c1", "failed")
	p.ends("s", "c2", "failed")
	assert.Len(t, p.fired, 1)
	assert.Equal(t, nets.ReasonEndpointUnreachable, p.approves("s", "c3"))
	assert.Empty(t, p.approves("t", "c4"))
	p.TurnEnded("t") // no failure of the endpoint explains that
	assert.Equal(t, nets.ReasonTripwireFired, p.approves("s", "c5"))
	assert.Len(t, p.fired, 2)
}

func TestGuardKnowsSessionsByTheirSecretsAlone(t *testing.T) {
	p := newPost()
	witnessed := func(session string) (tools []string, contacted bool) {
		req := pipeline.Request{SessionID: session}
		p.Witness(&req)
		return req.Session.OfferedTools, req.Session.Contacted
	}
	tools, contacted := witnessed("s")
	assert.Equal(t, []string{"list_tasks"}, tools)
	assert.True(t, contacted)

	p.Expect("2")
	p.Listed("2", []string{"other"})
	_, contacted = witnessed("s")
	assert.True(t, contacted, "the request is not answered yet")
	p.Bind("2", "s")
	tools, _ = witnessed("s")
	assert.Equal(t, []string{"other"}, tools)
	p.Listed("1", []string{"list_tasks"})
	p.Forget("1")
	tools, _ = witnessed("s")
	assert.Equal(t, []string{"other"}, tools, "the earlier secret counts no more")

	p.Forget("2")
	p.Bind("never made", "s")
	p.Listed("never made", nil)
	_, contacted = witnessed("s")
	assert.False(t, contacted)
	assert.Equal(t, stages.ReasonNoSessionSecret, p.approves("s", "c1"))
}

func TestGuardLeavesAlone(t *testing.T) {
	pends := approved()
	pends.Decision.Verdict = pipeline.Pend
	rejects := approved()
	rejects.Decision.Option = 1
	blanket := approved()
	blanket.Stage = stages.BlanketName
	for name, r := range map[string]pipeline.Result{"what is asked": pends, "a rejection": rejects, "blanket approval": blanket} {
		t.Run(name, func(t *testing.T) {
			p := newPost()
			p.approves("s", "c0")
			p.TurnEnded("s") // it never arrived
			o := offer("s", "c1", pipeline.AllowOnce, pipeline.RejectOnce)
			assert.Equal(t, r, p.Check(o, r))
			p.TurnEnded("s")
			assert.Len(t, p.fired, 1)
		})
	}
}

func TestGuardWithoutAnEndpointExpectsNothing(t *testing.T) {
	p := newPost()
	p.Guard = nets.NewGuard(nets.Options{Reserved: "kandev"})
	own := approved()
	own.Facts.Injected = false // a stage of the host's own approved it
	assert.Equal(t, own, p.Check(offer("s", "c1"), own))
	p.TurnEnded("s")
	assert.Equal(t, own, p.Check(offer("s", "c2"), own))
}

func TestGuardTakesBackWhatWasNotSent(t *testing.T) {
	p := newPost()
	o := offer("s", "c1")
	p.Check(o, approved())
	p.Withdraw(o)
	p.TurnEnded("s")
	assert.Empty(t, p.fired)
}

func TestGuardIsBounded(t *testing.T) {
	p := newPost()
	calls := 0
	for p.approves("s", "c") == "" {
		calls++
	}
	assert.GreaterOrEqual(t, calls, 1024)
	assert.Equal(t, nets.ReasonTooManyAwaited, p.approves("s", "c"))
	assert.Equal(t, nets.ReasonIDTooLong, p.approves("s", strings.Repeat("c", nets.MaxFollowed+1)))
	p.ends("s", strings.Repeat("c", 7*nets.MaxFollowed), "completed")
	assert.Empty(t, p.fired)
}

func TestGuardReadsTheEndOfACall(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		ends bool
	}{
		"completed":           {`{"params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}}}`, true},
		"at once":             {`{"params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c1","status":"completed"}}}`, true},
		"with escapes":        {`{"params":{"sessionId":"\u0073","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"f\u0061iled"}}}`, true},
		"in any order":        {`{"params":{"update":{"status":"failed","rawInput":{"status":"x"},"toolCallId":"c1","sessionUpdate":"tool_call_update"},"sessionId":"s"}}`, true},
		"twice, and not":      {`{"params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","status":"pending"}}}`, true},
		"not yet":             {`{"params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress","title":"completed"}}}`, false},
		"another call":        {`{"params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c2","status":"completed"}}}`, false},
		"another session":     {`{"params":{"sessionId":"t","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}}}`, false},
		"a message":           {`{"params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","toolCallId":"c1","status":"completed"}}}`, false},
		"no object":           {`["completed"]`, false},
		"of the wrong shapes": {`{"params":{"sessionId":7,"update":["completed"]}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPost()
			p.approves("s", "c1")
			p.Update([]byte(c.line))
			if !c.ends {
				assert.Empty(t, p.fired)
				p.ends("s", "c1", "completed")
			}
			assert.Len(t, p.fired, 1)
		})
	}
}

// What an agent sends is read without a panic, and trips nothing by itself.
func FuzzUpdate(f *testing.F) {
	f.Add([]byte(`{"params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}}}`))
	f.Add([]byte(`{"params":{"update":[`))
	f.Fuzz(func(t *testing.T, line []byte) {
		p := newPost()
		p.Update(line)
		if len(p.fired) > 0 {
			t.Fatal("nothing was approved")
		}
	})
}

// Many goroutines at once: each approved call that arrives is counted, and none
// that did not arrive is missed.
func TestGuardIsForManyGoroutines(t *testing.T) {
	p := newPost()
	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			call := fmt.Sprint("c", n)
			p.approves("s", call)
			p.Arrived("1", endpoint.Arrival{Tool: "list_tasks", CallID: call})
			p.Allowed(offer("s", call), tool("list_tasks"), 0)
			p.ends("s", call, "completed")
		})
	}
	all.Wait()
	assert.Empty(t, p.fired)
	assert.Empty(t, p.unasked)
}
