package serve

import (
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withFree adds keepers with blanket approval and without.
func withFree(t *testing.T) func(*Config) {
	return func(c *Config) {
		c.Agents["keeper"] = agentOf(t, "keeper")
		free := agentOf(t, "keeper")
		free.AutoApprove = true
		c.Agents["free"] = free
	}
}

// startOf is the payload of a task that is not begun.
func startOf(agent string, parent any) string {
	return fmt.Sprintf(`{"title":"x","agent":%q,"parent":"%v"}`, agent, parent)
}

// A token that may not answer has no agent with blanket approval work for it, unless
// below a task that has one already.
func TestBlanketApprovalOfThoseWhoMayNotAnswer(t *testing.T) {
	r := begin(t, withFree(t))
	secret := r.token("bot", []string{"view", "operate"})
	desk, bot := r.dial(r.token("desk", all)), r.dial(secret)
	mcp := r.external(secret).connect(t)
	var free wireTask
	assert.Equal(t, "forbidden", bot.refused("task.start", startOf("free", "")))
	text, failed := tool(t, mcp, "create_task_kandev", map[string]any{"title": "x", "agent": "free"})
	assert.True(t, failed)
	assert.Contains(t, text, "forbidden")
	assert.Empty(t, desk.watch().Tasks)
	desk.ask("task.start", startOf("free", ""), &free)
	bot.ask("task.start", startOf("keeper", ""), nil)
	bot.ask("task.start", startOf("free", free.ID), nil)
	text, failed = tool(t, mcp, "create_task_kandev", map[string]any{"title": "x", "agent": "keeper"})
	assert.False(t, failed, text)

	prompt := fmt.Sprintf(`{"task":%q,"text":"go"}`, free.ID)
	assert.Equal(t, "forbidden", bot.refused("task.prompt", prompt))
	desk.ask("task.prompt", prompt, nil)
	desk.says(free.ID, "heard: go")
}

// Nor does an agent that is asked about itself.
func TestBlanketApprovalOfAgents(t *testing.T) {
	r := begin(t, withFree(t))
	p := r.dial(r.token("desk", all))
	p.watch()
	for _, agent := range []string{"keeper", "free"} {
		dir := t.TempDir()
		var made, child wireTask
		p.ask("task.start", fmt.Sprintf(`{"title":"x","prompt":"hello","agent":%q,"directory":%q}`, agent, dir), &made)
		p.says(made.ID, "heard: hello")
		way := theft(t, dir).connect(t)
		p.ask("task.start", startOf("free", made.ID), &child)
		text, failed := tool(t, way, "message_task_kandev", map[string]any{"task": string(child.ID), "text": "go"})
		assert.Equal(t, agent == "keeper", failed, text)
		if agent == "free" {
			p.says(child.ID, "heard: Message from task "+string(made.ID)+":\ngo")
			continue
		}
		assert.Contains(t, text, "forbidden")
		p.ask("task.start", startOf("keeper", made.ID), &child)
		text, failed = tool(t, way, "message_task_kandev", map[string]any{"task": string(child.ID), "text": "go"})
		assert.False(t, failed, text)
	}
}

// The id of a parent that somebody does not see is nowhere in what they are told.
func TestTheParentOfATaskThatIsNotSeen(t *testing.T) {
	r := begin(t, nil)
	desk := r.dial(r.token("desk", all))
	desk.watch()
	parent := desk.start("parent", "help")
	var child, below wireTask
	desk.ask("task.start", startOf("", parent.ID), &child)
	desk.ask("task.start", startOf("", child.ID), &below)
	secret := r.token("guest", all, string(child.ID))
	guest := r.dial(secret)
	watched := guest.watch()
	require.Len(t, watched.Tasks, 2)
	desk.ask("task.stop", fmt.Sprintf(`{"task":%q}`, child.ID), nil)
	assert.Empty(t, guest.settles(child.ID, "stopped").Parent)
	assert.Equal(t, child.ID, guest.settles(below.ID, "stopped").Parent)
	assert.Equal(t, parent.ID, desk.settles(child.ID, "stopped").Parent)
	get, ok := guest.call("task.get", fmt.Sprintf(`{"task":%q}`, child.ID))
	require.True(t, ok)
	list, ok := guest.call("task.list", `{}`)
	require.True(t, ok)
	text, failed := tool(t, r.external(secret).connect(t), "list_tasks_kandev", nil)
	require.False(t, failed, text)
	state, err := json.Marshal(watched)
	require.NoError(t, err)
	for _, told := range []string{string(get.Result), string(list.Result), text, string(state)} {
		assert.Contains(t, told, string(child.ID))
		assert.NotContains(t, told, string(parent.ID))
	}
	guest.mu.Lock()
	defer guest.mu.Unlock()
	for _, e := range guest.events {
		assert.NotContains(t, string(e.Payload), string(parent.ID), e.Event)
	}
}
