package pagetest

import (
	"time"

	"github.com/kandev/assent/internal/host/pending"
)

// What the page gets and sends.

type task struct {
	ID        string    `json:"id"`
	Parent    string    `json:"parent,omitempty"`
	Title     string    `json:"title"`
	State     string    `json:"state"`
	Agent     string    `json:"agent,omitempty"`
	Directory string    `json:"directory,omitempty"`
	Created   time.Time `json:"created"`
	Note      string    `json:"note,omitempty"`
}

type instance struct {
	ID        string `json:"id"`
	Task      string `json:"task"`
	Agent     string `json:"agent"`
	AgentName string `json:"agent_name"`
	State     string `json:"state"`
	Automatic bool   `json:"automatic"`
}

type question struct {
	ID      string    `json:"id"`
	Task    string    `json:"task"`
	Text    string    `json:"text"`
	Options []string  `json:"options"`
	Opened  time.Time `json:"opened"`
}

type decision struct {
	Task    string    `json:"task"`
	Stage   string    `json:"stage"`
	Reason  string    `json:"reason"`
	Verdict string    `json:"verdict"`
	Kind    string    `json:"kind"`
	Tool    string    `json:"tool"`
	Server  string    `json:"server"`
	Time    time.Time `json:"time"`
	Number  uint64    `json:"number,omitzero"`
}

type firedNet struct {
	Net    string    `json:"net"`
	Reason string    `json:"reason"`
	Task   string    `json:"task"`
	Time   time.Time `json:"time"`
	Number uint64    `json:"number,omitzero"`
}

type unasked struct {
	Task string    `json:"task"`
	Kind string    `json:"kind"`
	Time time.Time `json:"time"`
}

type step struct {
	Stage   string `json:"stage"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
}

type option struct {
	pending.Option
	Reach string `json:"reach"`
}

type offer struct {
	Instance string         `json:"instance"`
	Session  string         `json:"session"`
	Task     string         `json:"task"`
	Request  string         `json:"request"`
	Agent    string         `json:"agent"`
	Reason   string         `json:"reason"`
	Stage    string         `json:"stage"`
	Action   pending.Action `json:"action"`
	Options  []option       `json:"options"`
	Opened   time.Time      `json:"opened"`
	Trace    []step         `json:"trace"`
}

func offerOf(s pending.Snapshot) offer {
	options := make([]option, 0, s.Options.Len())
	for _, o := range s.Options.All() {
		options = append(options, option{o, "reaches as far as " + o.Kind})
	}
	return offer{
		Instance: string(s.Instance), Session: s.Session, Task: "t1", Request: string(s.Request), Agent: "claude-acp",
		Reason: string(s.Reason), Stage: string(s.Stage), Action: s.Action, Options: options, Opened: s.Opened,
		Trace: []step{{"blanket", "continue", "no_blanket_approval"}, {string(s.Stage), "pend", string(s.Reason)}},
	}
}

type text struct {
	Task   string `json:"task"`
	Text   string `json:"text"`
	From   string `json:"from"`
	Begins bool   `json:"begins"`
	Number uint64 `json:"number"`
}

type agent struct {
	Name      string `json:"name"`
	Directory string `json:"directory"`
	Default   bool   `json:"default"`
	Demo      bool   `json:"demo"`
}

type closed struct {
	Task    string            `json:"task"`
	Action  pending.Action    `json:"action"`
	Time    time.Time         `json:"time"`
	Session string            `json:"session"`
	Request string            `json:"request"`
	Outcome string            `json:"outcome"`
	Verdict string            `json:"verdict"`
	Kind    string            `json:"kind,omitempty"`
	By      pending.Responder `json:"by"`
}

func closedOf(o pending.Outcome) closed {
	return closed{
		Task: "t1", Time: time.Now(),
		Session: o.Key.Session, Request: string(o.Key.Request), Outcome: outcome(o),
		Verdict: o.Verdict.String(), Kind: o.OptionKind, By: o.By,
	}
}

// outcome is the word of the wire for how an offer ended.
func outcome(o pending.Outcome) string {
	switch o.Reason {
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

type acted struct {
	Task string            `json:"task"`
	What string            `json:"what"`
	By   pending.Responder `json:"by"`
	Time time.Time         `json:"time"`
}

type wholeState struct {
	Server    string     `json:"server"`
	Started   time.Time  `json:"started"`
	Tasks     []task     `json:"tasks"`
	Instances []instance `json:"instances"`
	Offers    []offer    `json:"offers"`
	Questions []question `json:"questions"`
	Decisions []decision `json:"decisions"`
	Nets      []firedNet `json:"nets"`
	Unasked   []unasked  `json:"unasked"`
	Closed    []closed   `json:"closed"`
	Acted     []acted    `json:"acted"`
	Texts     []text     `json:"texts"`
	Agents    []agent    `json:"agents"`
	Limited   bool       `json:"limited"`
}

type change struct {
	Path  string `json:"path"`
	Old   string `json:"old,omitempty"`
	New   string `json:"new,omitempty"`
	Patch string `json:"patch,omitempty"`
}

type detail struct {
	Title     string   `json:"title,omitempty"`
	Arguments string   `json:"arguments,omitempty"`
	Changes   []change `json:"changes,omitempty"`
	Notes     []string `json:"notes,omitempty"`
	Left      int      `json:"left,omitempty"`
}

func detailOf(d pending.Detail) detail {
	out := detail{Title: d.Title, Arguments: d.Arguments, Notes: d.Notes, Left: d.Left}
	for _, c := range d.Changes {
		out.Changes = append(out.Changes, change(c))
	}
	return out
}

// Payloads of requests.

type watchPayload struct {
	Task string `json:"task,omitempty"`
}

type offerPayload struct {
	Session string `json:"session"`
	Request string `json:"request"`
}

// answer has one of the two: the exact id of an option, or "allow", "deny" or "cancel".
type answer struct {
	Option *string `json:"option,omitempty"`
	Choice string  `json:"choice,omitempty"`
}

func (a answer) pending() pending.Answer {
	switch {
	case a.Option != nil:
		return pending.Select(*a.Option)
	case a.Choice == "allow":
		return pending.Allow()
	case a.Choice == "deny":
		return pending.Deny()
	case a.Choice == "cancel":
		return pending.Cancel()
	}
	return pending.Answer{}
}

type resolvePayload struct {
	offerPayload
	Answer answer `json:"answer"`
}

type questionPayload struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

type startPayload struct {
	Title     string `json:"title"`
	Prompt    string `json:"prompt,omitempty"`
	Agent     string `json:"agent,omitempty"`
	Parent    string `json:"parent,omitempty"`
	Directory string `json:"directory,omitempty"`
}

type taskPayload struct {
	Task string `json:"task"`
}

type promptPayload struct {
	Task string `json:"task"`
	Text string `json:"text"`
}
