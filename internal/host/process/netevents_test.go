package process

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
	"github.com/kandev/assent/stages"
)

func TestARestartedInstanceApprovesAgain(t *testing.T) {
	n := newNetStage(t)
	session := n.seen(t)
	n.turn(t, session, injectedOffer("1", "s1", "c1", listTool)+"\nend") // it never arrives
	n.settled(t, session.instance, injectedOffer("2", "s1", "c2", listTool))
	assert.Equal(t, "pend tripwire_fired", n.decisions()[1])
	again, err := n.manager.Restart(t.Context(), session.instance)
	require.NoError(t, err)
	t.Cleanup(func() { again.Stop(t.Context()) })
	_, err = again.NewSession(t.Context(), "/")
	require.NoError(t, err)
	n.settled(t, again, injectedOffer("3", "s1", "c3", listTool))
	require.Equal(t, http.StatusOK, n.knock(t, again, n.tape.hidden[1]))
	n.settled(t, again, injectedOffer("4", "s1", "c4", listTool))
	assert.Equal(t, []string{"pend injected_server_not_contacted", "select injected_mcp allow_once"}, n.decisions()[2:])
}

func TestNetsThatKeepOneOfferBack(t *testing.T) {
	never := stages.DefaultNeverAutomatic()[0]
	startup := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"mcp_startup.kandev.1","title":"mcp__kandev__startup","status":"failed"}}}`
	codex := `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c1","name":"mcp__kandev__list_tasks_kandev"},"options":` + threeOptions + `}}`
	for name, test := range map[string]struct {
		agent, before, offer string
		net                  audit.Net
		reason               pipeline.Reason
		number               uint64 // of the offer that the firing is about
	}{
		"a tool that is not offered": {"claude-acp", "{}", injectedOffer("1", "s1", "c1", "unheard_of"), audit.Witness, stages.ReasonToolNotOffered, 2},
		"a session without a secret": {"claude-acp", "{}", injectedOffer("1", "sub", "c1", listTool), audit.Witness, stages.ReasonNoSessionSecret, 2},
		"the startup alarm":          {"codex-acp", startup, codex, audit.StartupAlarm, stages.ReasonStartupAlarm, 0},
		"the startup alarm, twice":   {"codex-acp", startup + "\n" + startup, codex, audit.StartupAlarm, stages.ReasonStartupAlarm, 0},
		"never automatic":            {"claude-acp", "{}", injectedOffer("1", "s1", "c1", never), audit.NeverAutomatic, stages.ReasonNeverAutomatic, 2},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNetStage(t, func(_ *Options, l *Launch) {
				l.Config.Agent = test.agent
				l.Endpoint.Tools = toolsNamed(listTool, never)
			})
			i := n.seen(t).instance
			n.settled(t, i, injectedOffer("0", "s1", "c0", listTool)) // the approving twin
			n.settled(t, i, test.before, test.offer)
			assert.Equal(t, []string{"select injected_mcp allow_once", "pend " + string(test.reason)}, n.decisions())
			require.Len(t, n.fired, 1)
			got := <-n.fired
			assert.Equal(t, test.net, got.Net)
			assert.Equal(t, test.reason, got.Reason)
			assert.Equal(t, test.number, got.Number)
			records := n.records(t, i, audit.NetFired, audit.Decision)
			require.Len(t, records, 3)
			fired := slices.IndexFunc(records, func(r audit.Record) bool { return r.Event == audit.NetFired })
			assert.Equal(t, test.net, records[fired].Net)
			if test.number == 0 {
				assert.Equal(t, 1, fired, "told when it happens, before the offer")
				assert.Empty(t, records[fired].Request)
				return
			}
			assert.NotEmpty(t, records[fired].Request)
			assert.Equal(t, records[1].Request, records[fired].Request)
		})
	}
}

func TestCallsThatNobodyWasAskedAbout(t *testing.T) {
	unknown := `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c1","title":"list"},"options":` + threeOptions + `}}`
	shell := strings.Replace(unknown, `"title"`, `"name":"Bash","title"`, 1)
	for name, test := range map[string]struct {
		offer  string
		option int // of a person; below zero: nobody is asked
		calls  int
		want   int
	}{
		"nobody was asked":                     {"{}", -1, 2, 2},
		"it was approved":                      {injectedOffer("1", "s1", "c1", listTool), -1, 1, 0},
		"it came twice":                        {injectedOffer("1", "s1", "c1", listTool), -1, 2, 1},
		"a person allowed a call with no name": {unknown, 0, 2, 1},
		"a person allowed it for good":         {unknown, 1, 3, 0},
		"a person rejected it":                 {unknown, 2, 1, 1},
		"a person allowed another tool":        {shell, 0, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNetStage(t)
			i := n.seen(t).instance
			n.settled(t, i, test.offer)
			if test.option >= 0 {
				n.next(t).selects(t, test.option)
			}
			for range test.calls {
				n.call(t, i, n.tape.hidden[0], listTool, "")
			}
			assert.Len(t, n.unasked, test.want)
			records := n.records(t, i, audit.Unasked)
			require.Len(t, records, test.want)
			for _, r := range records {
				assert.Equal(t, []any{"s1", listTool}, []any{r.Session, r.Tool.Tool()})
			}
			assert.Equal(t, test.want, strings.Count(n.log.String(), "nobody had been asked"))
		})
	}
}

// One record, nothing that waits, and updates flow as always.
func TestL53L17_AnAutomaticApproval(t *testing.T) {
	n := newNetStage(t)
	var flowed []string
	n.onUpdate = func(_ context.Context, v View) {
		if v.Text != "" {
			n.says <- v.Text
			return
		}
		flowed = append(flowed, v.Kind+" "+v.Status)
	}
	i := n.seen(t).instance
	events, stop := n.store.Watch(8)
	defer stop()
	start := strings.Replace(callUpdate("s1", "c1", "pending"), "tool_call_update", "tool_call", 1)
	n.settled(t, i, start, injectedOffer("1", "s1", "c1", listTool), callUpdate("s1", "c1", "in_progress"))
	n.call(t, i, n.tape.hidden[0], listTool, "c1")
	n.settled(t, i, callUpdate("s1", "c1", "completed"))
	n.none(t)
	assert.Empty(t, events, "nothing was pending at any moment")
	assert.Equal(t, []string{"tool_call pending", "tool_call_update in_progress", "tool_call_update completed"}, flowed)
	records := n.records(t, i, audit.Decision, audit.Answer, audit.NetFired, audit.Unasked)
	require.Len(t, records, 1)
	r := records[0]
	assert.Equal(t, []any{audit.Decision, pipeline.Select, stages.ReasonInjectedMCP, listTool, pipeline.AllowOnce},
		[]any{r.Event, r.Verdict, r.Reason, r.Tool.Tool(), r.OptionKind})
	assert.NotEmpty(t, r.Request)
}

// What a person answers has a record of its own, under the id of the offer.
func TestAnAnswerHasOneRecord(t *testing.T) {
	n := newNetStage(t)
	i := n.seen(t).instance
	n.settled(t, i, `offer 1 s1 c1`, `offer 2 s1 c2`)
	q := n.next(t)
	q.selects(t, 2)
	n.also(t, i, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}`)
	receive(t, n.answered)
	receive(t, n.answered)
	records := n.records(t, i, audit.Decision, audit.Answer)
	require.Len(t, records, 4)
	first := records[2]
	assert.Equal(t, []any{audit.Answer, string(q.Request), pipeline.Select, pending.ReasonSelected, pipeline.RejectOnce, "ada", "test"},
		[]any{first.Event, first.Request, first.Verdict, first.Reason, first.OptionKind, first.By, first.Surface})
	assert.Equal(t, string(q.Request), records[0].Request)
	assert.Equal(t, []any{records[1].Request, pipeline.Cancel, pending.ReasonWithdrawn, ""}, []any{records[3].Request, records[3].Verdict, records[3].Reason, records[3].By})
}

func TestTooManyCallsAreAwaited(t *testing.T) {
	n := newNetStage(t)
	i := n.seen(t).instance
	n.second(t, i)
	fill(i)
	n.settled(t, i, injectedOffer("1", "s1", "c1", listTool), injectedOffer("2", "s2", "c2", listTool))
	assert.Equal(t, []string{"pend too_many_calls_awaited", "select injected_mcp allow_once"}, n.decisions())
	n.next(t).selects(t, 0) // a person still can
	assert.True(t, receive(t, n.answered).Sent)
}

// Also without the witness: what cannot be watched is not approved.
func TestASessionWithoutASecretIsNeverApproved(t *testing.T) {
	n := newNetStage(t, func(o *Options, _ *Launch) {
		factory, err := stages.NewDefaultFactory()
		require.NoError(t, err)
		o.Pipelines = factory
	})
	i := n.session(t).instance
	n.settled(t, i, injectedOffer("1", "s1", "c1", listTool), injectedOffer("2", "of-a-sub-agent", "c2", listTool))
	assert.Equal(t, []string{"select injected_mcp allow_once", "pend session_without_secret"}, n.decisions())
}

// A tripped instance with blanket approval cannot come about by itself; should it,
// the person's own choice counts.
func TestTheTripwireDoesNotTouchBlanketApproval(t *testing.T) {
	for blanket, want := range map[bool]string{true: "select blanket_approval allow_once", false: "pend tripwire_fired"} {
		n := newNetStage(t, func(_ *Options, l *Launch) { l.Config.AutoApprovePermissions = blanket })
		i := n.seen(t).instance
		n.settled(t, i)
		i.nets.Check(offerOf("s1", "c0"), approvedResult()) // it never arrives
		i.nets.TurnEnded("s1")
		<-n.fired
		n.settled(t, i, injectedOffer("1", "s1", "c1", listTool))
		assert.Equal(t, []string{want}, n.decisions())
	}
}

// cancels is a stage during which the session is cancelled.
type cancels struct{ instance *Instance }

func (*cancels) Name() pipeline.Name { return "cancels" }

func (c *cancels) Evaluate(context.Context, pipeline.Evaluation) (pipeline.Decision, error) {
	return pipeline.Decision{Reason: "ask"}, c.instance.CancelSession("s1")
}

func TestL01_CancelledWhileItIsDecided(t *testing.T) {
	stage := &cancels{}
	inBubble(t, pending.Config{}, func(t *testing.T, w *wired) {
		w.attach()
		stage.instance = w.instance
		session, err := w.instance.NewSession(t.Context(), "/")
		require.NoError(t, err)
		_, err = session.begin("go")
		require.NoError(t, err)
		w.send(plainOffer("1", "s1", "c", threeOptions))
		synctest.Wait()
		assert.Equal(t, map[string][]string{"1": {"cancelled"}}, w.frames())
		assert.Zero(t, w.store.Len())
		assert.Equal(t, pending.ReasonSessionCancelled, receive(t, w.answered).Outcome.Reason)
	}, func(o *Options, _ *Launch) {
		o.Pipelines = func(pipeline.Instance) (*pipeline.Pipeline, error) {
			return pipeline.New(pipeline.Order{"cancels"}, []pipeline.Stage{stage})
		}
	})
}

// offerOf is an offer of the tool that lists, with one option.
func offerOf(session, call string) *acp.Offer {
	return &acp.Offer{Request: pipeline.Request{
		SessionID: session, Call: pipeline.ToolCall{ID: call}, Options: []pipeline.Option{{ID: "a", Kind: pipeline.AllowOnce}},
	}}
}

// approvedResult is its automatic approval.
func approvedResult() pipeline.Result {
	id, _ := pipeline.NewIdentity(pipeline.ClaimTool("kandev", listTool))
	return pipeline.Result{
		Decision: pipeline.Decision{Verdict: pipeline.Select}, Stage: stages.OptionName, Facts: pipeline.Facts{Identity: id, Injected: true},
	}
}

// fill lets so many approved calls of s1 wait for their arrival that no more can.
func fill(i *Instance) {
	for i.nets.Check(offerOf("s1", "x"), approvedResult()).Decision.Verdict == pipeline.Select {
	}
}

// toolsNamed are tools that do nothing.
func toolsNamed(names ...string) (tools []endpoint.Tool) {
	for _, name := range names {
		tools = append(tools, endpoint.NewTool(&mcp.Tool{Name: name, Description: "It does nothing."},
			func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, struct{}, error) {
				return nil, struct{}{}, nil
			}))
	}
	return tools
}
