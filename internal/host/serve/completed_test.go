package serve

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/task"
	"github.com/kandev/assent/pipeline"
)

// goesOn starts an agent that says that its task is done and goes on with its turn.
func goesOn(t *testing.T, p *peer) (wireTask, wireOffer) {
	t.Helper()
	made, way := p.keep("endless", "")
	p.ask("task.prompt", fmt.Sprintf(`{"task":%q,"text":"offer"}`, made.ID), nil)
	offer := p.opens(made.ID)
	text, failed := tool(t, way.connect(t), "step_complete_kandev", map[string]any{"summary": "done"})
	require.False(t, failed, text)
	return made, offer
}

// ended waits for the end of a task's agent.
func ended(p *peer, id task.ID) {
	p.t.Helper()
	until(p, "instance.changed", func(e struct {
		Instance instanceView `json:"instance"`
	}) bool {
		return e.Instance.Task == id && e.Instance.State == "ended"
	})
}

func TestPeopleStopAnAgentAfterItsTaskIsCompleted(t *testing.T) {
	for _, action := range []string{"task.stop", "task.cancel"} {
		t.Run(action, func(t *testing.T) {
			r := begin(t, withKeeper(t))
			p := r.dial(r.token("desk", all))
			p.watch()
			made, offer := goesOn(t, p)
			assert.NotNil(t, r.runner.working(made.ID), "it goes on")
			var got stateResult
			p.ask(action, fmt.Sprintf(`{"task":%q}`, made.ID), &got)
			assert.Equal(t, task.OutcomeStopped, got.State)
			assert.NotEqual(t, "answered", p.closes(offer).Outcome)
			ended(p, made.ID)
			assert.Equal(t, task.Completed, r.stateOf(string(made.ID)))
			require.Eventually(t, func() bool { return r.runner.working(made.ID) == nil }, patience, time.Millisecond)
			p.ask(action, fmt.Sprintf(`{"task":%q}`, made.ID), &got)
			assert.Equal(t, task.OutcomeNotRunning, got.State, "nothing is left of it")
		})
	}
}

// Left alone, such an agent ends by itself after its grace; until then a person can
// still answer it.
func TestAnAgentEndsAfterItsTaskIsCompleted(t *testing.T) {
	r := begin(t, withKeeper(t))
	p := r.dial(r.token("desk", all))
	p.watch()
	made, offer := goesOn(t, p)
	p.ask("permission.resolve", offer.resolve(`{"choice":"allow"}`), nil)
	assert.Equal(t, "answered", p.closes(offer).Outcome)
	ended(p, made.ID)

	r.runner.grace = 10 * time.Millisecond
	made, offer = goesOn(t, p)
	assert.NotEqual(t, "answered", p.closes(offer).Outcome)
	ended(p, made.ID)
	assert.Equal(t, task.Completed, r.stateOf(string(made.ID)))
}

// What is approved automatically before the end of a task is asked about after it: by
// rule and by blanket approval.
func TestNothingIsApprovedAfterTheEndOfATask(t *testing.T) {
	for name, test := range map[string]struct {
		before, after string
		blanket       bool
	}{
		"by rule":             {"list-tasks", "list-tasks", false},
		"by blanket approval": {"shell", "shell", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, func(c *Config) {
				agent := c.Agents["demo"]
				agent.AutoApprove = test.blanket
				c.Agents["demo"] = agent
			})
			p := r.dial(r.token("desk", all))
			p.watch()
			made := p.start("ends", test.before+` complete "Done." `+test.after)
			offer := p.opens(made.ID)
			assert.EqualValues(t, "task_ended", offer.Reason)
			assert.Equal(t, task.Completed, r.stateOf(string(made.ID)))
			approved := 0
			p.mu.Lock()
			for _, e := range p.events {
				var d struct {
					Decision decisionView `json:"decision"`
				}
				if e.Event == "decision" {
					require.NoError(t, json.Unmarshal(e.Payload, &d))
					assert.Equal(t, "select", d.Decision.Verdict)
					approved++
				}
			}
			p.mu.Unlock()
			assert.GreaterOrEqual(t, approved, 2, "what came before was approved")
			p.ask("permission.resolve", offer.resolve(`{"choice":"deny"}`), nil)
			ended(p, made.ID)
		})
	}
}

// An agent that makes room, and whose task goes on, gets nothing approved while it ends;
// before that it did.
func TestNothingIsApprovedForAnAgentThatIsToldToEnd(t *testing.T) {
	r := begin(t, func(c *Config) {
		keeper := agentOf(t, "keeper")
		keeper.Env[lateVariable], keeper.AutoApprove, keeper.Directory = "1", true, t.TempDir()
		c.Agents["keeper"], c.DefaultAgent = keeper, "keeper"
	})
	p := r.dial(r.token("desk", all))
	p.watch()
	made := p.start("asks", "offer")
	p.says(made.ID, "answered: ")
	p.settles(made.ID, task.Idle)
	require.Eventually(t, r.runner.working(made.ID).retire, patience, tick)
	ended(p, made.ID)
	decisions := of(r.records(), audit.Decision)
	require.Len(t, decisions, 2)
	assert.Equal(t, pipeline.Select, decisions[0].Verdict)
	assert.NotEqual(t, pipeline.Select, decisions[1].Verdict, decisions[1].Reason)
}
