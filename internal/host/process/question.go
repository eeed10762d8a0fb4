package process

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/kandev/assent/pipeline"
)

// Asker asks a person. The host has to bring one.
type Asker interface {
	// Ask returns the person's answer. It is called in a goroutine of its own for
	// each question, many at a time. It returns when ctx ends; [context.Cause]
	// then says why nobody needs to answer any more: [ErrWithdrawn],
	// [ErrSessionCancelled] or [ErrEnded]. What it returns after that counts for
	// nothing.
	Ask(ctx context.Context, q Question) Answer
}

// Answer is what a person decided. The zero value cancels, so nothing is ever
// approved by leaving something out.
type Answer struct {
	selected bool
	option   int
}

// Select answers with the offered option of the given index.
func Select(option int) Answer { return Answer{selected: true, option: option} }

// Cancel answers with the outcome "cancelled".
func Cancel() Answer { return Answer{} }

// Selected is the index of the selected option; false for a cancelled one.
func (a Answer) Selected() (option int, ok bool) { return a.option, a.selected }

// Question is one permission request that waits for a person. Texts in it come
// from the agent, are bounded, and hold anything: show them with package display
// and log none of them.
type Question struct {
	Instance InstanceID
	// Agent is the configured or guessed agent id.
	Agent pipeline.Agent
	// Number is ours: it is used once per manager and identifies the question.
	// The agent's own ids identify nothing.
	Number uint64
	// Session as the agent named it.
	Session string
	// ToolCall is the agent's toolCallId. Several questions can have the same.
	ToolCall string
	// Result says why it was not decided automatically.
	Result pipeline.Result
	// Action is what the agent wants to do.
	Action Action
	// Options as offered. Their labels come from the agent.
	Options []pipeline.Option
	// Hint tells equal options apart, where the agent's dialect knows how.
	Hint pipeline.OptionHint
	// Asked is when the request was decided to be asked.
	Asked time.Time
}

// Format prints no text of the agent.
func (q Question) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "question %d of instance %s", q.Number, q.Instance)
}

// LogValue holds no text of the agent.
func (q Question) LogValue() slog.Value {
	return slog.GroupValue(slog.String("instance", string(q.Instance)), slog.Uint64("offer", q.Number), slog.Any("result", q.Result))
}

// Action is what a tool call would do, as far as its frame says. Each text is
// bounded, valid UTF-8 and not escaped.
type Action struct {
	// Type is the kind of tool call, such as "execute"; empty when not given.
	Type string
	// Title as the agent shows it.
	Title string
	// Server and Tool are set when the tool is known for certain.
	Server, Tool string
	// Command that would run; a list of arguments is given as JSON.
	Command string
	// Paths that would be read or written, at most [MaxPaths], and how many more.
	Paths     []string
	MorePaths int
	// Destination on the network.
	Destination string
	// Arguments is the call's raw input as JSON, Diff what would be written. Both
	// are shown on request, and never kept beyond the question.
	Arguments, Diff string
	// Cut says that a text above is not complete.
	Cut bool
}

// MaxPaths is how many paths an [Action] lists.
const MaxPaths = 8

// Format prints nothing of the action.
func (a Action) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, "(an action, hidden)") }

// LogValue hides the action.
func (a Action) LogValue() slog.Value { return slog.StringValue("(hidden)") }
