package serve

import (
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/task"
)

// A parent's agent makes a child task through MCP, the child asks for the shell, a
// person answers, and the parent stops the child through MCP. In between others try
// to stop it, and it runs on.
func TestAParentItsChildAndForgedStops(t *testing.T) {
	r := begin(t, func(c *Config) { c.Agents["keeper"] = agentOf(t, "keeper") })
	secret := r.token("desk", all)
	p := r.dial(secret)
	p.watch()
	parent := p.start("parent", `create-child "shell"`)
	child := until(p, "task.changed", func(e taskEvent) bool { return e.Task.Parent == parent.ID }).Task
	offer := p.opens(child.ID)
	p.settles(parent.ID, task.Idle)

	stop := fmt.Sprintf(`{"task":%q}`, child.ID)
	assert.Equal(t, "forbidden", p.refused("mcp.stop_task", stop), "from the raw socket")
	assert.Equal(t, "forbidden", p.refused("mcp.stop_task", fmt.Sprintf(`{"task":%q,"sender_task_id":%q}`, child.ID, parent.ID)))

	var sibling wireTask
	dir := t.TempDir()
	p.ask("task.start", fmt.Sprintf(`{"title":"sibling","prompt":"hello","agent":"keeper","parent":%q,"directory":%q}`, parent.ID, dir), &sibling)
	p.says(sibling.ID, "heard")
	other := theft(t, dir).connect(t)
	forged, failed := tool(t, other, "stop_task_kandev", map[string]any{"task": string(child.ID)})
	assert.True(t, failed)
	unknown, failed := tool(t, other, "stop_task_kandev", map[string]any{"task": "task-nothing"})
	assert.True(t, failed)
	assert.Equal(t, unknown, forged, "a sibling is told the same as of an unknown task")

	_, err := r.external(secret).connect(t).CallTool(t.Context(), &mcp.CallToolParams{Name: "stop_task_kandev", Arguments: map[string]any{"task": string(child.ID)}})
	assert.ErrorContains(t, err, "unknown tool", "from the external endpoint")

	p.ask("permission.resolve", offer.resolve(`{"choice":"allow"}`), nil)
	p.says(child.ID, "Ran: the shell command.")
	p.settles(child.ID, task.Idle)
	assert.Equal(t, task.Idle, r.stateOf(string(child.ID)), "the child ran on")

	p.ask("task.prompt", fmt.Sprintf(`{"task":%q,"text":"stop-child"}`, parent.ID), nil)
	p.says(parent.ID, "Ran: stop_task_kandev of kandev.")
	assert.Equal(t, task.Stopped, r.stateOf(string(child.ID)))
	for _, i := range r.runner.views(func(task.ID) bool { return true }) {
		assert.NotEqual(t, child.ID, i.Task, "its agent is gone")
	}
}

// An agent asks the user and waits; a person answers, and nobody else can. Then it
// reports that its task is done, and its agent ends.
func TestAQuestionAndTheEndOfATask(t *testing.T) {
	r := begin(t, nil)
	p := r.dial(r.token("desk", all))
	p.watch()
	made := p.start("ask", `ask "Which colour?" complete "It is blue."`)
	asked := until(p, "question.opened", func(e struct {
		Question questionView `json:"question"`
	}) bool {
		return e.Question.Task == made.ID
	}).Question
	assert.Equal(t, "Which colour?", asked.Text)
	p.settles(made.ID, task.Waiting)
	looker := r.dial(r.token("looker", []string{"view", "operate"}))
	answer := fmt.Sprintf(`{"question":%q,"answer":"blue"}`, asked.ID)
	assert.Equal(t, "forbidden", looker.refused("question.answer", answer))
	p.ask("question.answer", answer, nil)
	assert.Equal(t, "conflict", p.refused("question.answer", answer))
	closed := until(p, "question.closed", func(e questionClosed) bool { return e.Question == asked.ID })
	assert.Equal(t, questionClosed{asked.ID, true, byView{"desk"}}, closed)

	done := p.settles(made.ID, task.Completed)
	assert.Equal(t, "It is blue.", done.Summary)
	until(p, "instance.changed", func(e struct {
		Instance instanceView `json:"instance"`
	}) bool {
		return e.Instance.Task == made.ID && e.Instance.State == "ended"
	})
	assert.Equal(t, "conflict", p.refused("task.prompt", fmt.Sprintf(`{"task":%q,"text":"shell"}`, made.ID)))
}

// A question ends with the call that asks it, and with its task.
func TestAQuestionOfATaskThatIsStopped(t *testing.T) {
	r := begin(t, nil)
	p := r.dial(r.token("desk", all))
	p.watch()
	for _, action := range []string{"task.stop", "task.cancel"} {
		made := p.start("ask", `ask "Shall I?"`)
		asked := until(p, "question.opened", func(e struct {
			Question questionView `json:"question"`
		}) bool {
			return e.Question.Task == made.ID
		}).Question
		p.ask(action, fmt.Sprintf(`{"task":%q}`, made.ID), nil)
		closed := until(p, "question.closed", func(e questionClosed) bool { return e.Question == asked.ID })
		assert.False(t, closed.Answered, action)
		assert.Equal(t, "stale", p.refused("question.answer", fmt.Sprintf(`{"question":%q,"answer":"yes"}`, asked.ID)), action)
	}
}

// Texts for a running agent are told one after the other, and a message of another
// task says whose it is.
func TestTextsWaitForTheirTurn(t *testing.T) {
	r := begin(t, withKeeper(t))
	p := r.dial(r.token("desk", all))
	p.watch()
	made, way := p.keep("one", "")
	p.ask("task.prompt", fmt.Sprintf(`{"task":%q,"text":"offer"}`, made.ID), nil)
	offer := p.opens(made.ID)
	p.ask("task.prompt", fmt.Sprintf(`{"task":%q,"text":"second"}`, made.ID), nil)
	var open struct {
		Offers []wireOffer `json:"offers"`
	}
	p.ask("permission.list", "{}", &open)
	require.Len(t, open.Offers, 1)
	p.ask("permission.resolve", offer.resolve(`{"choice":"deny"}`), nil)
	p.says(made.ID, "heard: second")

	child := madeBy(t, way.connect(t), "child")
	dir := t.TempDir()
	var other wireTask
	p.ask("task.start", fmt.Sprintf(`{"title":"other","prompt":"hello","parent":%q,"directory":%q}`, made.ID, dir), &other)
	p.says(other.ID, "heard: hello")
	text, failed := tool(t, theft(t, dir).connect(t), "message_task_kandev", map[string]any{"task": string(made.ID), "text": "news"})
	assert.False(t, failed, text)
	p.says(made.ID, "heard: Message from task "+string(other.ID)+":\nnews")
	text, failed = tool(t, theft(t, dir).connect(t), "message_task_kandev", map[string]any{"task": child, "text": "news"})
	assert.True(t, failed, "a sibling is out of reach")
	assert.Contains(t, text, "not_found")
}
