package demoagent

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
)

// What the agent calls at a host that runs an agent for each task.
func TestFamily(t *testing.T) {
	ran := &runs{}
	server := mcp.NewServer(&mcp.Implementation{Name: "kandev", Version: "1"}, nil)
	for _, name := range []string{createTaskTool, stopTaskTool, askUserTool, stepCompleteTool} {
		mcp.AddTool(server, &mcp.Tool{Name: name}, func(_ context.Context, _ *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, any, error) {
			text, err := json.Marshal(in, json.Deterministic(true))
			ran.add(toolRun{Server: "kandev", Tool: name, Text: string(text)})
			return nil, map[string]string{"id": fmt.Sprintf("task-%d", len(ran.all()))}, err
		})
	}
	c := start(t, Options{})
	c.open(entry("http", "kandev", serveMCP(t, "http", server, ran).URL))

	got := c.prompt("stop-child", always(selects("allow-once")))
	assert.Contains(t, got.said, "no task was created before")
	got = c.prompt(`create-child "list-tasks shell" ask "Go on?" stop-child complete "All done."`, always(selects("allow-once")))
	assert.Contains(t, got.said, "Ran: create_task_kandev of kandev, ask_user_question_kandev of kandev, stop_task_kandev of kandev, step_complete_kandev of kandev.")
	var calls []string
	for _, r := range ran.all() {
		calls = append(calls, r.Tool+" "+r.Text)
	}
	assert.Equal(t, []string{
		createTaskTool + ` {"prompt":"list-tasks shell","title":"Try the demo agent"}`,
		askUserTool + ` {"text":"Go on?"}`,
		stopTaskTool + ` {"task":"task-1"}`,
		stepCompleteTool + ` {"summary":"All done."}`,
	}, calls)
	got = c.prompt("create-child ask complete", always(selects("reject")))
	assert.Contains(t, got.said, "Did not run: ")
	assert.Len(t, ran.all(), 4, "what is not allowed does not run")
}
