package console

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/pipeline"
)

// questionLines show a question: what it is, why it was not automatic, what
// would be done, and each option.
func questionLines(q process.Question) []string {
	a := q.Action
	lines := []string{fmt.Sprintf("#%d  %s  not automatic: %s (stage %s)", q.Number, what(q.Result, a), q.Result.Decision.Reason, q.Result.Stage)}
	ours := func(name, text string) {
		if text != "" {
			lines = append(lines, fmt.Sprintf("  %-12s %s", name, text))
		}
	}
	add := func(name, text string) {
		if text != "" {
			ours(name, quote(text, maxShown))
		}
	}
	add("asks", a.Prompt)
	add("description", a.Description)
	add("title", a.Title)
	if a.Type != "" {
		ours("type", callKind(a.Type))
	}
	ours("server", a.Server)
	ours("tool", a.Tool)
	add("command", a.Command)
	for _, p := range a.Paths {
		add("path", p)
	}
	if a.MorePaths > 0 {
		ours("path", fmt.Sprintf("and %d more", a.MorePaths))
	}
	add("destination", a.Destination)
	switch {
	case a.Command == "" && a.Diff == "":
		add("arguments", a.Arguments)
	case a.Rest != "": // a part of what is judged must not hide the other
		ours("also", quote(a.Rest, maxShownTitle))
	}
	add("subject", a.Subject)
	if !shows(lines, a.Content) {
		add("content", a.Content)
	}
	if a.Cut {
		ours("note", "this is not all of it: the agent's text is too long to be shown")
	}
	return append(lines, optionLines(q.Options)...)
}

// shows says whether a text, perhaps within JSON, stands in the lines already.
func shows(lines []string, text string) bool {
	text = display.Line(text, len(text)*4)
	return slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, text) })
}

// maxDrawn is how many options of an offer are drawn. One that is not shown cannot
// be chosen either.
const maxDrawn = 50

// optionLines show the options, each with the number that chooses it.
func optionLines(options []pipeline.Option) []string {
	var lines []string
	for n, o := range options {
		if n == maxDrawn {
			return append(lines, fmt.Sprintf("  and %d more options, which are not shown and cannot be chosen here", len(options)-n))
		}
		kind := "unknown kind"
		if o.Kind != "" {
			kind = word(o.Kind, optionKind)
		}
		lines = append(lines, fmt.Sprintf("  %3d  %-14s %s", n+1, kind, quote(o.Label, maxShownTitle)))
	}
	return lines
}

// detailLines show all that is known of the action. The detail is escaped already.
func detailLines(q process.Question, d pending.Detail) []string {
	lines := []string{fmt.Sprintf("#%d  session %s, call %s", q.Number, quote(q.Session, maxShownID), quote(q.ToolCall, maxShownID))}
	add := func(name, text string) {
		if text == "" {
			return
		}
		lines = append(lines, "  "+name)
		for l := range strings.SplitSeq(strings.TrimSuffix(display.Cut(text, maxShownText), "\n"), "\n") {
			lines = append(lines, "  | "+l)
		}
	}
	add("title", d.Title)
	add("arguments", d.Arguments)
	for _, c := range d.Changes {
		name := "file " + quote(c.Path, maxShown)
		add(name+" before", c.Old)
		add(name+" after", c.New)
		add(name+" patch", c.Patch)
	}
	for _, note := range d.Notes {
		add("note", note)
	}
	if d.Left > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more bytes that are not shown", d.Left))
	}
	return lines
}

// surface asks somebody what nothing decides, and answers in the store.
type surface interface {
	// asked is called by the goroutine that reads the agent.
	asked(q process.Question)
	// over says that an offer has ended, however it did.
	over(number uint64)
}

// policySurface is the name under which policies answer.
const policySurface = "on-pending"

// policy answers questions without a person, as --on-pending says.
type policy struct {
	answer string // allow, reject or cancel
	screen *screen
	store  *pending.Store
	// once says once that nobody is asked.
	once sync.Once
	tell func()
}

// policy is the one that --on-pending names. Without the flag it cancels, and says
// so once, behind the reason why nobody is asked.
func (o *Options) policy(s *screen, store *pending.Store, why string) *policy {
	return &policy{answer: orElse(o.OnPending, "cancel"), screen: s, store: store, tell: func() {
		if o.OnPending == "" {
			o.say(why + "what nobody decides is cancelled (--on-pending allow|reject|cancel)")
		}
	}}
}

// asked answers at once.
func (p *policy) asked(q process.Question) {
	p.once.Do(p.tell)
	p.screen.block("question", questionLines(q))
	by := pending.Responder{Name: "policy", Surface: policySurface}
	if p.store.Resolve(q.Key, p.choose(q), by) != nil {
		_ = p.store.Resolve(q.Key, pending.Cancel(), by) // it fails when the offer is over
	}
}

func (*policy) over(uint64) {}

func (p *policy) choose(q process.Question) pending.Answer {
	var reason pipeline.Reason
	var answer pending.Answer
	switch p.answer {
	case "allow":
		_, reason = pipeline.LeastAllow(q.Options, q.Hint)
		answer = pending.Allow()
	case "reject":
		_, reason = pipeline.LeastReject(q.Options, q.Hint)
		answer = pending.Deny()
	default:
		return pending.Cancel()
	}
	if reason != pipeline.ReasonOptionChosen {
		p.screen.line("", "#%d  --on-pending %s finds no single option (%s): cancelled", q.Number, p.answer, reason)
		return pending.Cancel()
	}
	return answer
}
