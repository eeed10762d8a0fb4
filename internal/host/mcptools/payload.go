package mcptools

import "github.com/google/jsonschema-go/jsonschema"

// The actions behind the tools.
const (
	ActionCreateTask        = "mcp.create_task"
	ActionListTasks         = "mcp.list_tasks"
	ActionGetTask           = "mcp.get_task"
	ActionStopTask          = "mcp.stop_task"
	ActionMessageTask       = "mcp.message_task"
	ActionAskUserQuestion   = "mcp.ask_user_question"
	ActionStepComplete      = "mcp.step_complete"
	ActionListPermissions   = "mcp.list_pending_agent_permissions"
	ActionResolvePermission = "mcp.resolve_agent_permission"
)

// Nothing is the payload of an action without arguments.
type Nothing struct{}

// NewTask is what a task is made of.
type NewTask struct {
	Title  string `json:"title" jsonschema:"what the task is about, in one line of at most 200 characters"`
	Prompt string `json:"prompt,omitempty" jsonschema:"what the agent of the task is told to do; write everything that it needs to know, it sees nothing of this conversation. Without a prompt the task is only noted and no agent works on it"`
	Agent  string `json:"agent,omitempty" jsonschema:"name of the agent that works on it, as the host's configuration calls it; without it the same agent as here, or the host's default"`
}

// NewTaskAnywhere is a [NewTask] of a caller that is no task itself.
type NewTaskAnywhere struct {
	NewTask
	Parent string `json:"parent,omitempty" jsonschema:"id of the task that the new one belongs to; without it the new task stands for itself"`
}

// TaskID names a task.
type TaskID struct {
	Task string `json:"task" jsonschema:"id of the task, as list_tasks_kandev or create_task_kandev gave it"`
}

// Message is a text for a task.
type Message struct {
	Task string `json:"task" jsonschema:"id of the task, as list_tasks_kandev or create_task_kandev gave it"`
	Text string `json:"text" jsonschema:"what the agent of that task is told"`
}

// Question is one for the user.
type Question struct {
	Text    string   `json:"text" jsonschema:"the question, complete in itself: the user may not have seen your work"`
	Options []string `json:"options,omitempty" jsonschema:"answers to choose from, if there are only a few; without them the user answers freely"`
}

// Completion is the end of a task.
type Completion struct {
	Summary string `json:"summary" jsonschema:"what was done and what came out of it, in a few sentences, for the user and for the parent task"`
}

// Resolution answers a permission request.
type Resolution struct {
	Session string `json:"session" jsonschema:"session of the request, exactly as it was listed"`
	Request string `json:"request" jsonschema:"id of the request, exactly as it was listed"`
	Option  string `json:"option,omitempty" jsonschema:"id of the option to choose, exactly as it was listed"`
	Choice  string `json:"choice,omitempty" jsonschema:"instead of an option: allow (the allow of the least reach), deny, or cancel (neither)"`
}

// Schema is that of the type of a payload: closed, as the dispatcher wants it. The
// types above all have one.
func Schema[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic("mcptools: a payload's type makes no schema: " + err.Error())
	}
	return s
}
