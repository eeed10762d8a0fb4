package process

import (
	"context"

	"github.com/kandev/assent/internal/host/frame"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/pipeline"
)

// Watcher is told what happens. Updated, Decided and Asked are called in the order
// of the agent's lines by the goroutine that reads them: a watcher that takes its
// time slows the agent down, and nothing is queued. One that waits for something
// must return when ctx ends. The others may be called at the same time, by whoever
// caused them.
type Watcher interface {
	Updated(ctx context.Context, u Update)
	// Decided is told once for every offer.
	Decided(ctx context.Context, d Decided)
	// Asked is told once for every offer that waits in the store, after Decided.
	// It can be answered at once, from within the call.
	Asked(ctx context.Context, q Question)
	// Answered is told once for every offer that was asked about, after Asked.
	Answered(ctx context.Context, a Answered)
}

// nobody watches.
type nobody struct{}

func (nobody) Updated(context.Context, Update)    {}
func (nobody) Decided(context.Context, Decided)   {}
func (nobody) Asked(context.Context, Question)    {}
func (nobody) Answered(context.Context, Answered) {}

// Update is one session/update of an agent.
type Update struct {
	Instance InstanceID
	// Line is the frame as it came, valid during the call.
	Line []byte
}

// Decided is told once for every offer, when the pipeline has decided it or
// decided to ask.
type Decided struct {
	Instance InstanceID
	// Number is ours, the same as in a [Question].
	Number uint64
	// Request is the id of the offer. Only one that waits can be answered by it: it
	// is the one under which the store lists it.
	Request pending.RequestID
	// Session and ToolCall as the agent named them; empty when they cannot be read.
	Session, ToolCall string
	// Result says which stage decided what, and why.
	Result pipeline.Result
	// OptionKind is the kind of the selected option, empty without one. It comes
	// from the agent.
	OptionKind string

	action func() Action
}

// Action is what the offer is about. It is for the time of the call only.
func (d Decided) Action() Action { return d.action() }

// Answered is told once for every offer that was asked about, when it is over.
type Answered struct {
	Instance InstanceID
	Number   uint64
	// Outcome is how it ended and why, as the store says it.
	Outcome pending.Outcome
	// Option is the selected option; the zero value without one.
	Option pipeline.Option
	// Sent says that the answer is on its way to the agent. It is not when the
	// agent has ended.
	Sent bool
}

// View is what an update says, for a person's eyes. Texts come from the agent,
// are bounded, and not escaped.
type View struct {
	Session string
	// Kind is the value of sessionUpdate, such as "tool_call".
	Kind string
	// ToolCall and Status of a tool call or an update of one.
	ToolCall, Status string
	// Action of a tool call.
	Action Action
	// Text of a message.
	Text string
	// Plan entries, each with its status.
	Plan []frame.PlanEntry
}

// View reads the update.
func (u Update) View() View {
	f := frame.Read(u.Line)
	return View{
		Session: f.Session, Kind: f.Update, ToolCall: f.ID, Status: f.Status, Action: newAction(&f, false), Text: f.Spoken, Plan: f.Plan,
	}
}
