package process

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/pipeline"
)

// Question is one permission request that waits for a person in the store. Texts in it come
// from the agent, are bounded, and hold anything: show them with package display
// and log none of them.
type Question struct {
	// Key is what the store takes an answer for.
	pending.Key
	// Agent is the configured or guessed agent id.
	Agent pipeline.Agent
	// Number is ours: it is used once per manager and identifies the question.
	// The agent's own ids identify nothing.
	Number uint64
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
	// Prompt and Description are what the agent says beside the call itself, in
	// version 2 of ACP.
	Prompt, Description string
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
	// Rest is what Arguments hold besides the texts above, as JSON; all of them
	// when the tool is known: its arguments are its own.
	Rest string
	// Subject is what version 2 of ACP asks about besides a tool call, as JSON,
	// without the texts above.
	Subject string
	// Content are texts that the agent shows with the call. Of some agents they are
	// the only place where the arguments stand.
	Content string
	// Cut says that a text above is not complete.
	Cut bool
}

// MaxPaths is how many paths an [Action] lists.
const MaxPaths = 8

// Format prints nothing of the action.
func (a Action) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, "(an action, hidden)") }

// LogValue hides the action.
func (a Action) LogValue() slog.Value { return slog.StringValue("(hidden)") }
