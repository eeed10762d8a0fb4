package mcptools

import (
	"slices"

	"github.com/kandev/assent/internal/host/endpoint"
)

// tasks are the tools of both modes. External is who is no task itself.
func tasks(external bool) []tool {
	create := tool{
		name: "create_task_kandev", title: "Create a task", action: ActionCreateTask, schema: Schema[NewTask](),
		description: "Creates one task and returns its id and state. With a prompt another agent begins to work on it at once, beside you; " +
			"without one the task is only noted. The new task is a child of yours: you can list, message and stop it. " +
			"Use it when the user asks to note, plan, split or delegate work. " +
			"Each call creates another task, also with the same title: call list_tasks_kandev first if the task may be there already. " +
			"Errors: invalid_payload (title missing or too long), conflict (too many tasks), not_found (no such agent).",
	}
	list := tool{
		name: "list_tasks_kandev", title: "List the tasks", action: ActionListTasks, schema: Schema[Nothing](), readOnly: true, idempotent: true,
		description: "Returns your own task, its parent, and all tasks below yours, oldest first, each with id, parent, title, state " +
			"(created, running, waiting, idle, stopped, completed or failed) and, when it is over, a summary. It takes no arguments and changes nothing.",
	}
	if external {
		create.schema = Schema[NewTaskAnywhere]()
		create.description = "Creates one task on the host and returns its id and state. With a prompt an agent begins to work on it at once; " +
			"without one the task is only noted. Use it when the user wants an agent of the host to do something. " +
			"Each call creates another task, also with the same title: call list_tasks_kandev first if the task may be there already. " +
			"Errors: invalid_payload (title missing or too long), conflict (too many tasks), not_found (no such agent or parent), forbidden (the token is limited to tasks: name one as the parent)."
		list.description = "Returns all tasks that your token may see, oldest first, each with id, parent, title, state " +
			"(created, running, waiting, idle, stopped, completed or failed) and, when it is over, a summary. It takes no arguments and changes nothing."
	}
	return []tool{create, list}
}

// own are the tools that only a task has.
func own() []tool {
	return []tool{
		{
			name: "get_task_kandev", title: "Look at a task", action: ActionGetTask, schema: Schema[TaskID](), readOnly: true, idempotent: true,
			description: "Returns one task: title, state and, when it is over, the summary of what came out of it. " +
				"Use it to see how a child task is doing. It changes nothing. Errors: not_found (no such task, or none of yours).",
		},
		{
			name: "stop_task_kandev", title: "Stop a child task", action: ActionStopTask, schema: Schema[TaskID](), idempotent: true,
			description: "Stops the agent of a direct child of your task, whatever it is doing, and closes what it has asked the user. " +
				"It returns the state: stopped, or not_running when there was nothing to stop. It never starts anything, and stopping twice is fine. " +
				"Use it when the work is not needed any more. Errors: not_found (no such task, or not a direct child of yours).",
		},
		{
			name: "message_task_kandev", title: "Tell a task something", action: ActionMessageTask, schema: Schema[Message](),
			description: "Sends a text to the agent of another task: your parent, or a task below yours. A running agent gets it when its turn is over, " +
				"an idle one at once. It returns whether it was delivered or waits; it does not return an answer: look with get_task_kandev, or wait for a message. " +
				"Errors: not_found (no such task, or out of reach), conflict (the task is over, or too many messages wait).",
		},
		{
			name: "ask_user_question_kandev", title: "Ask the user", action: ActionAskUserQuestion, schema: Schema[Question](), progress: progressEvery,
			description: "Asks the user a question and waits until it is answered, which can take hours; the result is the answer. " +
				"Use it when you cannot go on without a decision that is the user's. Do not use it to ask for permission to call a tool: the host does that. " +
				"Errors: conflict (too many questions are open), unavailable (the task was stopped while it waited).",
		},
		{
			name: "step_complete_kandev", title: "Report that the task is done", action: ActionStepComplete, schema: Schema[Completion](),
			description: "Reports that your own task is done, with a summary. Call it once, as the last thing you do, when all child tasks are over; " +
				"your agent ends after this turn. Errors: conflict (a child task is not over yet, or the task was completed before).",
		},
	}
}

// permissions are the tools of people who may answer for their agents.
func permissions() []tool {
	return []tool{
		{
			name: "list_pending_agent_permissions_kandev", title: "List what agents ask permission for", action: ActionListPermissions,
			schema: Schema[Nothing](), readOnly: true, idempotent: true,
			description: "Returns the permission requests of agents that wait for a person, oldest first: session and request id, the task with its title and agent, what the agent wants to do " +
				"(with credentials masked), why it was not allowed automatically, and the options with their ids. It changes nothing.",
		},
		{
			name: "resolve_agent_permission_kandev", title: "Answer a permission request", action: ActionResolvePermission, schema: Schema[Resolution](),
			description: "Answers one permission request for the user. Use it only when the user has told you the answer to this very request. " +
				"Give session and request exactly as listed, and either the id of an option or one of allow, deny, cancel. " +
				"Errors: not_found, already_resolved, expired, withdrawn, stale (nothing was sent: it is over), mismatch (the session is not that of the request), option_not_offered and option_required " +
				"(the request is still open: name one of its options).",
		},
	}
}

// TaskMode are the tools of an agent's own endpoint. The caller speaks for the
// agent's instance.
func TaskMode(call Caller) []endpoint.Tool {
	var tools []endpoint.Tool
	for _, t := range slices.Concat(tasks(false), own()) {
		tools = append(tools, endpoint.NewTool(t.definition(), t.handler(call)))
	}
	return tools
}
