package serve

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/task"
	"github.com/kandev/assent/pipeline"
)

// tick is between two looks at something that comes by itself.
const tick = 50 * time.Millisecond

// After a restart tasks are there. One that was cut off is taken up where the agent
// keeps its sessions, and is idle with a note where it does not.
func TestSessionsAreTakenUpAfterARestart(t *testing.T) {
	both := func(c *Config) { c.Agents["keeper"] = agentOf(t, "keeper") }
	first := begin(t, both)
	secret := first.token("desk", all)
	p := first.dial(secret)
	p.watch()
	var kept, lost, never wireTask
	p.ask("task.start", `{"title":"kept","prompt":"offer","agent":"keeper"}`, &kept)
	lost = p.start("lost", "shell")
	p.ask("task.start", `{"title":"never"}`, &never)
	p.opens(kept.ID)
	offer := p.opens(lost.ID)
	p.settles(kept.ID, task.Waiting)
	p.settles(lost.ID, task.Waiting)
	first.stop()
	assert.Equal(t, "server_restarted", p.closes(offer).Outcome, "whoever watches is told how it ended")

	second := beginIn(t, first.dir, both)
	p = second.dial(secret)
	p.watch()
	notes := map[task.ID]string{}
	require.Eventually(t, func() bool {
		for _, each := range p.watch().Tasks {
			if each.State != task.Idle && each.ID != never.ID {
				return false
			}
			notes[each.ID] = each.Note
		}
		return strings.Contains(notes[kept.ID], "taken up again") && strings.Contains(notes[lost.ID], "begins anew")
	}, patience, tick)
	assert.Empty(t, notes[never.ID])
	p.ask("task.prompt", fmt.Sprintf(`{"task":%q,"text":"go on"}`, kept.ID), nil)
	p.says(kept.ID, "heard: go on")
	p.ask("task.prompt", fmt.Sprintf(`{"task":%q,"text":"shell"}`, lost.ID), nil)
	p.ask("permission.resolve", p.opens(lost.ID).resolve(`{"choice":"allow"}`), nil)
	p.says(lost.ID, "Ran: the shell command.")
}

// What the host says of a task that was cut off stays over restarts until the task is
// prompted. A task that was prompted says that its texts are gone; one that never was says
// nothing.
func TestNotesStayOverRestarts(t *testing.T) {
	r := begin(t, nil)
	secret := r.token("desk", all)
	p := r.dial(secret)
	p.watch()
	cut, never := p.start("cut", "shell"), p.start("never", "")
	p.opens(cut.ID)
	p.settles(cut.ID, task.Waiting)
	for n := range 3 {
		r.stop()
		r = beginIn(t, r.dir, nil)
		p = r.dial(secret)
		p.watch()
		note := func() string { return r.runner.note(cut.ID) }
		require.Eventually(t, func() bool { return strings.Contains(note(), noteCut) }, patience, tick, n)
		require.Eventually(t, func() bool { return r.stateOf(string(cut.ID)) == task.Idle }, patience, tick)
		texts := map[task.ID][]string{}
		for _, v := range r.spoken.all(func(task.ID) bool { return true }) {
			texts[v.Task] = append(texts[v.Task], v.Text)
		}
		assert.Equal(t, map[task.ID][]string{cut.ID: {noteForgotten, note()}}, texts, never.ID)
	}
	p.ask("task.prompt", fmt.Sprintf(`{"task":%q,"text":"plan \"x\""}`, cut.ID), nil)
	p.settles(cut.ID, task.Running)
	p.settles(cut.ID, task.Idle)
	r.stop()
	r = beginIn(t, r.dir, nil)
	assert.NotContains(t, r.runner.note(cut.ID), noteCut)
}

// An agent that ends in the middle of a turn fails its task; a command that cannot be
// started does, too, and says why.
func TestAgentsThatEnd(t *testing.T) {
	r := begin(t, func(c *Config) {
		c.Agents["missing"] = Agent{ID: "claude-acp", Command: []string{"assent-no-such-agent"}}
	})
	p := r.dial(r.token("desk", all))
	p.watch()
	var made wireTask
	p.ask("task.start", `{"title":"missing","prompt":"hello","agent":"missing"}`, &made)
	failed := p.settles(made.ID, task.Failed)
	assert.Contains(t, failed.Note, "could not go on")
	assert.Equal(t, "not_found", p.refused("task.start", `{"title":"x","agent":"nobody"}`))

	victim := p.start("victim", "shell")
	offer := p.opens(victim.ID)
	for _, i := range r.manager.Instances() {
		r.manager.Kill()
		<-i.Done()
	}
	assert.Equal(t, "agent_gone", p.closes(offer).Outcome)
	assert.Contains(t, p.settles(victim.ID, task.Failed).Note, "could not go on")
	assert.Equal(t, "stale", p.refused("permission.resolve", offer.resolve(`{"choice":"allow"}`)))
}

// A server that ends takes nothing more in, tells its clients, and leaves no agent. What
// is asked then ends with the server, and what is asked by a turn that somebody cancels
// ends with the turn.
func TestDrain(t *testing.T) {
	r := begin(t, nil)
	p := r.dial(r.token("desk", all))
	p.watch()
	made, other := p.start("hello", "shell"), p.start("other", "shell")
	offer, early := p.opens(made.ID), p.opens(other.ID)
	p.ask("task.cancel", fmt.Sprintf(`{"task":%q}`, other.ID), nil)
	assert.Equal(t, "cancelled", p.closes(early).Outcome)
	r.runner.mu.Lock()
	r.runner.ending = true
	r.runner.mu.Unlock()
	assert.Equal(t, "unavailable", p.refused("task.start", `{"title":"x","prompt":"shell"}`))
	assert.Equal(t, "unavailable", p.refused("task.prompt", fmt.Sprintf(`{"task":%q,"text":"shell"}`, made.ID)))
	r.stop()
	assert.Equal(t, "server_restarted", p.closes(offer).Outcome)
	assert.Empty(t, r.manager.Instances())
	_, ok := p.call("task.list", "{}")
	assert.False(t, ok, "the connection is closed")
	ended := map[string]pipeline.Reason{}
	for _, each := range r.records() {
		if each.Event == audit.Answer {
			ended[each.Request] = each.Reason
		}
	}
	assert.Equal(t, map[string]pipeline.Reason{
		string(early.Request): pending.ReasonSessionCancelled, string(offer.Request): pending.ReasonClosed,
	}, ended)
}
