package endpoint

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of a task list, in tasks and in characters.
const (
	maxTasks       = 200
	maxTitle       = 200
	maxDescription = 2000
)

// Task is one thing to do.
type Task struct {
	ID          string `json:"id" jsonschema:"identifies the task"`
	Title       string `json:"title" jsonschema:"what to do, in one line"`
	Description string `json:"description,omitempty" jsonschema:"details, if any were given"`
}

// TaskList is a bounded list of tasks in memory. It is safe for concurrent use.
type TaskList struct {
	mu    sync.Mutex
	tasks []Task
}

// NewTaskList makes an empty list.
func NewTaskList() *TaskList { return &TaskList{} }

// Tasks gives the tasks, oldest first.
func (l *TaskList) Tasks() []Task {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.tasks)
}

// Create adds a task. Its errors are written for the model that called.
func (l *TaskList) Create(title, description string) (Task, error) {
	title = strings.TrimSpace(title)
	switch {
	case title == "":
		return Task{}, fmt.Errorf("title is empty: say in one line what to do")
	case utf8.RuneCountInString(title) > maxTitle:
		return Task{}, fmt.Errorf("title has %d characters, at most %d are allowed: shorten it and put details into description", utf8.RuneCountInString(title), maxTitle)
	case strings.ContainsAny(title, "\r\n"):
		return Task{}, fmt.Errorf("title has more than one line: put details into description")
	case utf8.RuneCountInString(description) > maxDescription:
		return Task{}, fmt.Errorf("description has %d characters, at most %d are allowed: shorten it", utf8.RuneCountInString(description), maxDescription)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tasks) >= maxTasks {
		return Task{}, fmt.Errorf("the list is full with %d tasks: no more can be created, tell the user", maxTasks)
	}
	t := Task{ID: "task-" + strconv.Itoa(len(l.tasks)+1), Title: title, Description: description}
	l.tasks = append(l.tasks, t)
	return t, nil
}

type createTaskInput struct {
	Title       string `json:"title" jsonschema:"what to do, in one line of at most 200 characters"`
	Description string `json:"description,omitempty" jsonschema:"details such as context, steps or how to know that it is done, at most 2000 characters"`
}

type createTaskOutput struct {
	ID string `json:"id" jsonschema:"identifies the new task"`
}

type listTasksInput struct{}

type listTasksOutput struct {
	Tasks []Task `json:"tasks" jsonschema:"all tasks, oldest first"`
}

// TaskTools are the tools on a task list.
func TaskTools(l *TaskList) []Tool {
	no := false
	return []Tool{
		NewTool(&mcp.Tool{
			Name:  "create_task_kandev",
			Title: "Create a task",
			Description: "Creates one task on the user's task list and returns its id. Use it when the user asks to note, plan or split work. " +
				"Each call creates another task, also with the same title: call list_tasks_kandev first if the task may be there already.",
			Annotations: &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no},
		}, func(_ context.Context, _ *mcp.CallToolRequest, in createTaskInput) (*mcp.CallToolResult, createTaskOutput, error) {
			t, err := l.Create(in.Title, in.Description)
			return nil, createTaskOutput{ID: t.ID}, err
		}),
		NewTool(&mcp.Tool{
			Name:        "list_tasks_kandev",
			Title:       "List the tasks",
			Description: "Returns all tasks on the user's task list, oldest first, each with id, title and, if there is one, description. It takes no arguments and changes nothing.",
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no},
		}, func(context.Context, *mcp.CallToolRequest, listTasksInput) (*mcp.CallToolResult, listTasksOutput, error) {
			return nil, listTasksOutput{Tasks: orEmpty(l.Tasks())}, nil
		}),
	}
}

// orEmpty makes a missing list an empty one: the schema knows no null.
func orEmpty(tasks []Task) []Task {
	if tasks == nil {
		return []Task{}
	}
	return tasks
}
