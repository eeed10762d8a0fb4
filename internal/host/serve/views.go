package serve

import (
	"time"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/host/task"
	"github.com/kandev/assent/pipeline"
)

// What people are shown. Texts of agents have their hidden characters written
// visibly; ids that an answer needs have their exact bytes.

// Bounds of texts that are shown, in bytes: escapes make them longer.
const (
	maxShownLine = 4 << 10
	maxShownText = 64 << 10
)

// taskView is a task.
type taskView struct {
	task.Task
	// Note is what the host has to say about it.
	Note string `json:"note,omitempty"`
}

func viewTask(t task.Task, note string) taskView {
	t.Title, t.Summary = display.Line(t.Title, maxShownLine), display.Text(t.Summary, maxShownText)
	t.Directory, t.Session = display.Line(t.Directory, 2*maxShownLine), ""
	return taskView{t, note}
}

// instanceView is one agent process.
type instanceView struct {
	ID        string    `json:"id"`
	Task      task.ID   `json:"task"`
	Agent     string    `json:"agent"`
	AgentName string    `json:"agent_name,omitempty"`
	State     string    `json:"state"` // starting, running, ended
	Session   string    `json:"session,omitempty"`
	Started   time.Time `json:"started"`
	// Automatic is false when the tripwire has taken automatic approval away.
	Automatic bool   `json:"automatic"`
	Error     string `json:"error,omitempty"`
}

// questionView is a question of an agent.
type questionView struct {
	ID      string    `json:"id"`
	Task    task.ID   `json:"task"`
	Text    string    `json:"text"`
	Options []string  `json:"options"`
	Opened  time.Time `json:"opened"`
}

func viewQuestion(q task.Question) questionView {
	v := questionView{q.ID, q.Task, display.Text(q.Text, maxShownText), []string{}, q.Opened}
	for _, o := range q.Options {
		v.Options = append(v.Options, display.Line(o, maxShownLine))
	}
	return v
}

// stepView is what one stage said.
type stepView struct {
	Stage   pipeline.Name   `json:"stage"`
	Verdict string          `json:"verdict"`
	Reason  pipeline.Reason `json:"reason"`
}

func viewTrace(t pipeline.Trace) []stepView {
	steps := []stepView{}
	for _, s := range t.Steps() {
		steps = append(steps, stepView{s.Stage, s.Decision.Verdict.String(), s.Decision.Reason})
	}
	return steps
}

// optionView is one offered answer.
type optionView struct {
	pending.Option
	// Reach is how far the answer goes.
	Reach string `json:"reach"`
}

// reaches are those of the kinds that ACP knows.
var reaches = map[string]string{
	pipeline.AllowOnce:    "this call, and no other",
	pipeline.AllowAlways:  "can outlive this session",
	pipeline.RejectOnce:   "this call, and no other",
	pipeline.RejectAlways: "can outlive this session",
}

// offerView is an open offer, redacted.
type offerView struct {
	Instance pending.InstanceID `json:"instance"`
	Session  string             `json:"session"`
	Task     task.ID            `json:"task"`
	Request  pending.RequestID  `json:"request"`
	Agent    string             `json:"agent"`
	Reason   pipeline.Reason    `json:"reason"`
	Stage    pipeline.Name      `json:"stage"`
	Action   pending.Action     `json:"action"`
	Options  []optionView       `json:"options"`
	Opened   time.Time          `json:"opened"`
	Trace    []stepView         `json:"trace"`
}

func viewOffer(s *pending.Snapshot, o knownOffer) offerView {
	v := offerView{
		Instance: s.Instance, Session: s.Session, Task: o.task, Request: s.Request, Agent: o.agent,
		Reason: s.Reason, Stage: s.Stage, Action: s.Action, Options: []optionView{}, Opened: s.Opened, Trace: viewTrace(o.trace),
	}
	for _, option := range s.Options.All() {
		reach, known := reaches[option.Kind]
		if !known {
			reach = "only the agent knows what it does"
		}
		v.Options = append(v.Options, optionView{option, reach})
	}
	return v
}

// closedView says how an offer ended, and what it was about, redacted.
type closedView struct {
	Task    task.ID           `json:"task"`
	Action  pending.Action    `json:"action"`
	Time    time.Time         `json:"time"`
	Session string            `json:"session"`
	Request pending.RequestID `json:"request"`
	Outcome string            `json:"outcome"`
	Verdict string            `json:"verdict"`
	Kind    string            `json:"kind,omitempty"`
	By      pending.Responder `json:"by"`
	Number  uint64            `json:"number"` // in its list, of its task, in this run; 0 of one that nobody could see
}

func viewClosed(o *pending.Outcome, known knownOffer) closedView {
	return closedView{
		known.task, known.action, time.Now().UTC(), o.Key.Session, o.Key.Request, outcomeOf(o.Reason), o.Verdict.String(), o.OptionKind, o.By, 0,
	}
}

// outcomeOf is the word of the wire for how an offer ended.
func outcomeOf(r pipeline.Reason) string {
	switch r {
	case pending.ReasonExpired, pending.ReasonNoSurface:
		return "expired"
	case pending.ReasonWithdrawn:
		return "withdrawn"
	case pending.ReasonSessionCancelled:
		return "cancelled"
	case pending.ReasonInstanceGone:
		return "agent_gone"
	case pending.ReasonClosed:
		return "server_restarted"
	}
	return "answered"
}

// decisionView is an automatic decision.
type decisionView struct {
	Task    task.ID         `json:"task"`
	Session string          `json:"session"`
	Stage   pipeline.Name   `json:"stage"`
	Reason  pipeline.Reason `json:"reason"`
	Verdict string          `json:"verdict"`
	Kind    string          `json:"kind,omitempty"`
	Tool    string          `json:"tool,omitempty"`
	Server  string          `json:"server,omitempty"`
	Time    time.Time       `json:"time"`
	Number  uint64          `json:"number"`
}

func viewDecision(of task.ID, d *process.Decided) decisionView {
	r := d.Result
	v := decisionView{
		Task: of, Session: display.Line(d.Session, maxShownLine), Stage: r.Stage, Reason: r.Decision.Reason,
		Verdict: r.Decision.Verdict.String(), Time: time.Now().UTC(),
	}
	if d.OptionKind != "" {
		v.Kind = pipeline.KnownKind(d.OptionKind)
	}
	v.Server, v.Tool = toolOf(r.Facts.Identity)
	return v
}

// toolOf names a tool that passed the parser.
func toolOf(id pipeline.Identity) (server, tool string) {
	if id.State() != pipeline.Named {
		return "", ""
	}
	return id.Server(), id.Tool()
}

// netView says that a net around the pipeline has fired.
type netView struct {
	Net    audit.Net       `json:"net"`
	Reason pipeline.Reason `json:"reason"`
	Task   task.ID         `json:"task"`
	Tool   string          `json:"tool,omitempty"`
	Time   time.Time       `json:"time"`
	Number uint64          `json:"number"`
}

func viewNet(of task.ID, f nets.Fired) netView {
	_, tool := toolOf(f.Tool)
	return netView{f.Net, f.Reason, of, tool, time.Now().UTC(), 0}
}

// unaskedView says that a call ran and nobody had been asked.
type unaskedView struct {
	Task   task.ID    `json:"task"`
	Kind   audit.Kind `json:"kind,omitempty"`
	Tool   string     `json:"tool,omitempty"`
	Time   time.Time  `json:"time"`
	Number uint64     `json:"number"`
}

func viewUnasked(of task.ID, u nets.Unasked) unaskedView {
	_, tool := toolOf(u.Tool)
	return unaskedView{of, u.Kind, tool, time.Now().UTC(), 0}
}

// actedView says that somebody ended a task or a turn of it, or answered a question.
type actedView struct {
	Task task.ID     `json:"task"`
	What audit.Event `json:"what"`
	// By has no name when it was the agent of the task above, which not everybody sees.
	By     pending.Responder `json:"by"`
	Time   time.Time         `json:"time"`
	Number uint64            `json:"number"`
}

// changeView is what would become of one file.
type changeView struct {
	Path  string `json:"path"`
	Old   string `json:"old,omitempty"`
	New   string `json:"new,omitempty"`
	Patch string `json:"patch,omitempty"`
}

// detailView is what a person sees of an offer on request.
type detailView struct {
	Title     string       `json:"title,omitempty"`
	Arguments string       `json:"arguments,omitempty"`
	Changes   []changeView `json:"changes,omitempty"`
	Notes     []string     `json:"notes,omitempty"`
	Left      int          `json:"left,omitempty"`
}

func viewDetail(d pending.Detail) detailView {
	v := detailView{Title: d.Title, Arguments: d.Arguments, Notes: d.Notes, Left: d.Left}
	for _, c := range d.Changes {
		v.Changes = append(v.Changes, changeView(c))
	}
	return v
}
