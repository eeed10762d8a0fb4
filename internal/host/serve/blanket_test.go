package serve

import (
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/task"
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

// A token that may not answer has no agent with blanket approval work for it: not below
// a task that has one either, named or taken over from there, nor by a message.
func TestBlanketApprovalOfThoseWhoMayNotAnswer(t *testing.T) {
	r := begin(t, withFree(t))
	desk := r.dial(r.token("desk", all))
	desk.watch()
	var free, child, below wireTask
	desk.ask("task.start", startOf("free", ""), &free)
	desk.ask("task.start", startOf("free", free.ID), &child)
	desk.ask("task.start", startOf("keeper", free.ID), &below)
	refused := map[string]string{
		"at the top":                 startOf("free", ""),
		"below one":                  startOf("free", free.ID),
		"below one, not named":       startOf("", free.ID),
		"below one without approval": startOf("free", below.ID),
	}
	taken := map[string]string{"at the top": startOf("keeper", ""), "below one": startOf("keeper", free.ID)}

	secret := r.token("bot", []string{"view", "operate"})
	bot, mcp := r.dial(secret), r.external(secret).connect(t)
	before := len(bot.watch().Tasks)
	for name, payload := range refused {
		assert.Equal(t, "forbidden", bot.refused("task.start", payload), name)
		text, failed := tool(t, mcp, "create_task_kandev", arguments(t, payload))
		assert.True(t, failed, name)
		assert.Contains(t, text, "forbidden", name)
	}
	assert.Len(t, bot.watch().Tasks, before)
	for name, payload := range taken {
		bot.ask("task.start", payload, nil)
		text, failed := tool(t, mcp, "create_task_kandev", arguments(t, payload))
		assert.False(t, failed, "%s: %s", name, text)
	}
	assert.Len(t, bot.watch().Tasks, before+2*len(taken))

	for _, id := range []task.ID{free.ID, child.ID} {
		assert.Equal(t, "forbidden", bot.refused("task.prompt", promptOf(id, "go")))
		desk.ask("task.prompt", promptOf(id, "come"), nil)
		desk.says(id, "heard: come")
	}
	bot.ask("task.prompt", promptOf(below.ID, "go"), nil)
	desk.says(below.ID, "heard: go")
}

// promptOf is the payload of a text to a task.
func promptOf(id task.ID, text string) string { return fmt.Sprintf(`{"task":%q,"text":%q}`, id, text) }

// arguments are those of a tool, as a payload has them.
func arguments(t *testing.T, payload string) (args map[string]any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(payload), &args))
	for name, value := range args {
		if value == "" {
			delete(args, name)
		}
	}
	return args
}

// Nor does an agent that is asked about: neither the one above it nor one below it, nor
// one that it would make.
func TestBlanketApprovalOfAgents(t *testing.T) {
	r := begin(t, withFree(t))
	p := r.dial(r.token("desk", all))
	p.watch()
	for _, agent := range []string{"keeper", "free"} {
		dir := t.TempDir()
		var above, own, free, keeper wireTask
		p.ask("task.start", startOf("free", ""), &above)
		p.ask("task.start", fmt.Sprintf(`{"title":"x","prompt":"hello","agent":%q,"parent":%q,"directory":%q}`, agent, above.ID, dir), &own)
		p.ask("task.start", startOf("free", own.ID), &free)
		p.ask("task.start", startOf("keeper", own.ID), &keeper)
		p.says(own.ID, "heard: hello")
		way := theft(t, dir).connect(t)
		tell := func(id task.ID) (string, bool) {
			return tool(t, way, "message_task_kandev", map[string]any{"task": string(id), "text": "go"})
		}
		for _, id := range []task.ID{above.ID, free.ID} {
			text, failed := tell(id)
			assert.Equal(t, agent == "keeper", failed, text)
			if failed {
				assert.Contains(t, text, "forbidden")
				continue
			}
			p.says(id, "heard: Message from task "+string(own.ID)+":\ngo")
		}
		text, failed := tool(t, way, "create_task_kandev", map[string]any{"title": "x", "agent": "free"})
		assert.Equal(t, agent == "keeper", failed, text)
		text, failed = tell(keeper.ID)
		assert.False(t, failed, text)
		p.says(keeper.ID, "heard: Message from task "+string(own.ID)+":\ngo")
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
