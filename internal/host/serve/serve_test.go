package serve

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/task"
)

// A person starts a task, its agent asks, the person answers, the agent goes on.
func TestATaskFromStartToEnd(t *testing.T) {
	r := begin(t, nil)
	p := r.dial(r.token("desk", all))
	first := p.watch()
	assert.Equal(t, r.run, first.Server)
	assert.Empty(t, first.Tasks)

	made := p.start("Say hello", "shell")
	offer := p.opens(made.ID)
	assert.Equal(t, "echo hello from the demo agent", offer.Action.Command)
	assert.Equal(t, "name_without_mcp_prefix", offer.Reason)
	assert.NotEmpty(t, offer.Trace)
	require.Len(t, offer.Options, 3)
	assert.Equal(t, "can outlive this session", offer.Options[1].Reach)
	p.settles(made.ID, task.Waiting)

	var detail detailView
	p.ask("permission.detail", fmt.Sprintf(`{"session":%q,"request":%q}`, offer.Session, offer.Request), &detail)
	assert.Contains(t, detail.Arguments, "echo hello")

	var answered answeredResult
	p.ask("permission.resolve", offer.resolve(`{"option":"allow-once"}`), &answered)
	assert.Equal(t, answeredResult{Answered: true}, answered)
	over := p.closes(offer)
	assert.Equal(t, [...]string{"answered", "select", "allow_once", "desk", "api"}, [...]string{over.Outcome, over.Verdict, over.Kind, over.By.Name, over.By.Surface})
	p.says(made.ID, "Ran: the shell command.")
	p.settles(made.ID, task.Idle)

	p.ask("permission.resolve", offer.resolve(`{"option":"allow-once"}`), &answered)
	assert.Equal(t, answeredResult{Answered: true, Already: true}, answered, "a retry can take it for done")
	assert.Equal(t, "already_resolved", p.refused("permission.resolve", offer.resolve(`{"choice":"deny"}`)))

	var stopped stateResult
	p.ask("task.stop", fmt.Sprintf(`{"task":%q}`, made.ID), &stopped)
	assert.Equal(t, task.OutcomeStopped, stopped.State)
	p.ask("task.stop", fmt.Sprintf(`{"task":%q}`, made.ID), &stopped)
	assert.Equal(t, task.OutcomeNotRunning, stopped.State)
	assert.Equal(t, "conflict", p.refused("task.prompt", fmt.Sprintf(`{"task":%q,"text":"shell"}`, made.ID)))
	assert.Empty(t, r.manager.Instances())
}
