package demoagent

import "github.com/go-json-experiment/json"

// Tools of a host that runs an agent for each task.
const (
	stopTaskTool     = "stop_task_kandev"
	askUserTool      = "ask_user_question_kandev"
	stepCompleteTool = "step_complete_kandev"
)

// createChild creates a task for another agent, and remembers it.
func createChild(t *turn, said string) {
	if said == "" {
		said = "shell"
	}
	t.callToolThen(injected, createTaskTool, map[string]any{"title": defaultTitle, "prompt": said}, func(out output) {
		var made struct {
			ID string `json:"id"`
		}
		if !out.failed && json.Unmarshal([]byte(out.text), &made) == nil {
			t.session.child = made.ID
		}
	})
}

func stopChild(t *turn, _ string) {
	if t.session.child == "" {
		t.missing(stopTaskTool+" of "+injected, "no task was created before")
		return
	}
	t.callTool(injected, stopTaskTool, map[string]any{"task": t.session.child})
}

func askUser(t *turn, said string) {
	if said == "" {
		said = "Shall I go on?"
	}
	t.callTool(injected, askUserTool, map[string]any{"text": said})
}

func complete(t *turn, said string) {
	if said == "" {
		said = "The demo agent has done what it was told."
	}
	t.callTool(injected, stepCompleteTool, map[string]any{"summary": said})
}
