package process

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/stages"
)

// A line that is dropped may say that an approved call is over: until the call has
// arrived, or its end was seen, a person is asked.
func TestALineThatCannotBeReadMayEndACall(t *testing.T) {
	const limit = 64 << 10
	long := `{"jsonrpc":"2.0","method":"session/update","params":{"x":"` + strings.Repeat("x", limit) + `"}}`
	deep := strings.Replace(callUpdate("s1", "another", "completed"), `"status"`, `"rawOutput":`+strings.Repeat("[", 10_001)+strings.Repeat("]", 10_001)+`,"status"`, 1)
	const asked = "pend call_end_unreadable"
	for name, test := range map[string]struct {
		line    string
		arrives bool
		want    string
	}{
		"too long":               {long, false, asked},
		"too long, and it came":  {long, true, approvedOnce},
		"too deep":               {deep, false, asked},
		"too deep, and it came":  {deep, true, approvedOnce},
		"a batch":                {"[" + callUpdate("s1", "c1", "completed") + "]", false, asked},
		"a banner means nothing": {"42% completed\"", false, approvedOnce},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNetStage(t, func(o *Options, _ *Launch) { o.MaxLine = limit })
			i := n.seen(t).instance
			n.settled(t, i, test.line, injectedOffer("1", "s1", "c1", listTool)) // nothing is awaited yet
			if test.arrives {
				n.call(t, i, n.tape.hidden[0], listTool, "c1")
			}
			n.settled(t, i, test.line, injectedOffer("2", "s1", "c2", listTool))
			n.call(t, i, n.tape.hidden[0], listTool, "c1")
			n.settled(t, i, injectedOffer("3", "s1", "c3", listTool))
			assert.Equal(t, []string{approvedOnce, test.want, approvedOnce}, n.decisions())
		})
	}
}

// Tool calls of the agent that ran and were not asked for, wherever they ran.
func TestToolCallsThatRanUnasked(t *testing.T) {
	started := func(session, call, kind string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"tool_call","toolCallId":%q,"kind":%q,"title":"canary","status":"completed"}}}`, session, call, kind)
	}
	for name, test := range map[string]struct {
		lines []string
		want  []audit.Kind
	}{
		"unasked":      {[]string{started("s1", "c1", "execute"), callUpdate("s1", "c1", "completed"), started("s1", "c2", "canary")}, []audit.Kind{"execute", "other"}},
		"asked":        {[]string{"offer 1 s1 c1", started("s1", "c1", "execute")}, nil},
		"of anybody":   {[]string{started("of-a-sub-agent", "c1", "read")}, []audit.Kind{"read"}},
		"by its form":  {[]string{strings.Replace(injectedOffer("1", "s1", "c1", listTool), threeOptions, "[]", 1), started("s1", "c1", "read")}, nil},
		"not finished": {[]string{callUpdate("s1", "c1", "in_progress"), callUpdate("s1", "c2", "failed")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNetStage(t)
			i := n.session(t).instance
			n.settled(t, i, test.lines...)
			records := n.records(t, i, audit.Unasked)
			var kinds []audit.Kind
			for _, r := range records {
				kinds = append(kinds, r.Kind)
				assert.Equal(t, pipeline.Identity{}, r.Tool)
			}
			assert.Equal(t, test.want, kinds)
			assert.Len(t, n.unasked, len(test.want))
		})
	}
}

// What a loaded session replays ran long ago.
func TestAReplayRunsNothing(t *testing.T) {
	n := newNetStage(t, func(_ *Options, l *Launch) { l.Endpoint = nil })
	w := n.wire(t)
	w.reply = func(got agentFrame) []string {
		if got.Method != "session/load" {
			return nil
		}
		return []string{
			callUpdate("s7", "c1", "completed"),
			fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, got.ID),
			callUpdate("s7", "c2", "completed"),
		}
	}
	done := make(chan struct{})
	n.onUpdate = func(_ context.Context, v View) {
		if v.ToolCall == "c2" {
			close(done)
		}
	}
	_, err := w.instance.LoadSession(t.Context(), "s7", "/")
	require.NoError(t, err)
	wait(t, done)
	assert.Len(t, n.unasked, 1)
}

// Every offer has an id of ours in its records, whatever became of it, and no two
// have the same.
func TestEveryOfferHasAnID(t *testing.T) {
	n := newNetStage(t)
	i := n.seen(t).instance
	n.settled(t, i,
		injectedOffer("1", "s1", "c1", listTool), "offer 2 s1 c2",
		strings.Replace(injectedOffer("3", "s1", "c3", listTool), threeOptions, "[]", 1),
		strings.Replace(injectedOffer("4", "s1", "c4", listTool), `"toolCall"`, `"x":1,"x":2,"toolCall"`, 1),
	)
	q := n.next(t)
	q.selects(t, 0)
	receive(t, n.answered)
	n.settled(t, i, callUpdate("s1", "c1", "completed")) // which never arrived
	records := n.records(t, i, audit.Decision, audit.Answer, audit.NetFired)
	require.Len(t, records, 6)
	ids := map[string]int{}
	for _, r := range records {
		assert.NotEmpty(t, r.Request)
		ids[r.Request]++
	}
	assert.Len(t, ids, 4)
	assert.Equal(t, 2, ids[string(q.Request)], "the decision to ask, and the answer")
	assert.Equal(t, []any{audit.NetFired, stages.ReasonInjectedMCP, records[0].Request}, []any{records[5].Event, records[0].Reason, records[5].Request})
	for n, d := range n.diary.decided {
		assert.Equal(t, records[n].Request, string(d.Request))
	}
}
