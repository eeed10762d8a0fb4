package console

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/stages"
)

// Bounds of what is shown, in bytes.
const (
	maxShownID    = 48
	maxShownTitle = 400
	maxShownText  = 64 << 10
	maxShown      = 2000
)

// screen writes what happens, one labelled line each. Whatever comes from an
// agent is escaped and quoted, and lines that are too long for the terminal are
// cut into rows here, so that no text of an agent can look like a line of ours.
// It is safe for concurrent use.
type screen struct {
	mu      sync.Mutex
	w       io.Writer
	columns func() int // of the terminal, now; 0 for none
	stream  string     // label of the text that is being written
	newLine bool       // that text is at the beginning of a line
	column  int        // where that text is in its row
	unasked int        // calls that nobody was asked about
	ledger  *ledger
	surface surface
}

func newScreen(w io.Writer, l *ledger) *screen {
	return &screen{w: w, columns: func() int { return columns(w) }, newLine: true, ledger: l}
}

// line writes one line of ours. Args that come from an agent must be escaped.
func (s *screen) line(label, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endText()
	s.write(label, fmt.Sprintf(format, args...))
}

// block writes lines that stay together; only the first one has the label.
func (s *screen) block(label string, lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endText()
	for _, l := range lines {
		s.write(label, l)
		label = ""
	}
}

func (s *screen) write(label, text string) {
	rows := display.Rows(fmt.Sprintf(labelled, label)+text, edge(s.columns()), rowPrefix)
	_, _ = io.WriteString(s.w, strings.Join(rows, "\n")+"\n")
}

// text writes a piece of running text of an agent. Every row of it has the mark.
func (s *screen) text(label, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != label {
		s.endText()
		s.stream = label
	}
	edge := edge(s.columns())
	begin := fmt.Sprintf(labelled, label) + textMark
	var b strings.Builder
	for _, r := range text {
		if s.newLine {
			b.WriteString(begin)
			s.newLine, s.column = false, len(begin)
		}
		if r == '\n' {
			s.newLine = true
		} else if s.column += display.Columns(r); edge > 0 && s.column > edge {
			b.WriteString("\n" + rowPrefix)
			s.column = len(rowPrefix) + display.Columns(r)
		}
		b.WriteRune(r)
	}
	_, _ = io.WriteString(s.w, b.String())
}

func (s *screen) endText() {
	if !s.newLine {
		_, _ = io.WriteString(s.w, "\n")
	}
	s.stream, s.newLine = "", true
}

// Updated shows an update of the agent.
func (s *screen) Updated(_ context.Context, u process.Update) {
	v := u.View()
	switch v.Kind {
	case "agent_message_chunk":
		s.text("agent", display.Text(v.Text, maxShownText))
	case "agent_thought_chunk":
		s.text("thinks", display.Text(v.Text, maxShownText))
	case "tool_call", "tool_call_update":
		s.toolCall(v)
	case "plan":
		lines := []string{}
		for _, e := range v.Plan {
			lines = append(lines, fmt.Sprintf("%-11s %s", word(e.Status, statuses), quote(e.Text, maxShownTitle)))
		}
		s.block("plan", lines)
	}
}

// toolCall shows a call when it begins, gets another title, or changes its state.
func (s *screen) toolCall(v process.View) {
	a := v.Action
	parts := []string{}
	if a.Title != "" {
		parts = append(parts, quote(a.Title, maxShownTitle))
	}
	if a.Type != "" {
		parts = append(parts, callKind(a.Type))
	}
	if v.Status != "" {
		parts = append(parts, word(v.Status, statuses))
	}
	switch {
	case v.Status != "" && v.Kind != "tool_call": // the input was shown before
	case a.Command != "" && a.Command != a.Title:
		parts = append(parts, "command "+quote(a.Command, maxShownTitle))
	case a.Command == "" && a.Arguments != "" && a.Arguments != "{}":
		parts = append(parts, quote(a.Arguments, maxShownTitle))
	}
	if len(parts) > 0 {
		s.line("call", "%s  %s", quote(v.ToolCall, maxShownID), strings.Join(parts, "  "))
	}
}

// Decided shows a decision. What is asked about is shown as a question.
func (s *screen) Decided(_ context.Context, d process.Decided) {
	s.ledger.decided(d)
	switch d.Result.Decision.Verdict {
	case pipeline.Select:
		label := "approved"
		if !pipeline.IsAllow(d.OptionKind) {
			label = "answered" // blanket approval takes what there is
		}
		s.line(label, "#%d  %s -> %s  (%s, stage %s)", d.Number, what(d.Result, d.Action()),
			word(d.OptionKind, optionKind), d.Result.Decision.Reason, d.Result.Stage)
	case pipeline.Cancel:
		s.line("cancelled", "#%d  %s  (%s, stage %s)", d.Number, what(d.Result, d.Action()), d.Result.Decision.Reason, d.Result.Stage)
	}
}

// what names the tool or the action in a few words. Only a tool whose name passed
// the parser is named in words of ours; all else is the agent's, and is quoted.
func what(r pipeline.Result, a process.Action) string {
	if id := r.Facts.Identity; id.State() == pipeline.Named {
		return id.Tool() + " of server " + id.Server()
	}
	for _, text := range []string{a.Command, a.Title, a.Destination, strings.Join(a.Paths, " "), a.Prompt, a.Type} {
		if text != "" {
			return display.Quote(text, 120)
		}
	}
	return "an unnamed action"
}

// Asked lets somebody be asked.
func (s *screen) Asked(_ context.Context, q process.Question) { s.surface.asked(q) }

// netTexts say what it means that a net has fired.
var netTexts = map[pipeline.Reason]string{
	nets.ReasonTripwireFired:       "an approved call of %s never arrived at the injected server: nothing is approved automatically any more",
	nets.ReasonEndpointUnreachable: "an approved call of %s failed, the injected server cannot be reached: this session is asked about",
	stages.ReasonStartupAlarm:      "the agent did not start the injected server: this session is asked about",
}

// Fired shows what a person should know at once. What only keeps one offer off
// the automatic path stands in its question.
func (s *screen) Fired(_ context.Context, f process.Fired) {
	text, known := netTexts[f.Reason]
	if !known {
		return
	}
	if strings.Contains(text, "%s") {
		text = fmt.Sprintf(text, orElse(f.Tool.Tool(), "a tool"))
	}
	s.line("net", "%s: %s", f.Net, text)
}

// Unasked counts calls that ran although nobody was asked. An agent that does that
// decides by itself, and every policy is decorative.
func (s *screen) Unasked(context.Context, process.Unasked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unasked++
}

// endings say how a question ended that nobody answered.
var endings = map[pipeline.Reason]string{
	pending.ReasonWithdrawn:        "withdrawn by the agent",
	pending.ReasonSessionCancelled: "cancelled with its session",
	pending.ReasonInstanceGone:     "over: the agent has ended",
	pending.ReasonExpired:          "expired",
	pending.ReasonNoSurface:        "cancelled: there was nobody to ask",
	pending.ReasonClosed:           "cancelled: the host is ending",
}

// Answered shows how a question ended. The answer of a person was shown before it
// was given, so that it stands before what the agent does with it.
func (s *screen) Answered(_ context.Context, a process.Answered) {
	s.surface.over(a.Number)
	text := "cancelled"
	if a.Outcome.Verdict == pipeline.Select {
		text = optionText(a.Outcome.Option, a.Option)
	}
	if why, other := endings[a.Outcome.Reason]; other {
		text = why
	}
	if a.Outcome.Reason == pending.ReasonInstanceGone && a.Sent {
		text = "cancelled: the agent is being stopped"
	}
	s.ledger.answered(a, text)
	if a.Outcome.By.Surface != terminalSurface {
		s.line("answer", "#%d  %s", a.Number, text)
	}
}

func optionText(index int, o pipeline.Option) string {
	return fmt.Sprintf("option %d  %s  %s", index+1, word(o.Kind, optionKind), display.Quote(o.Label, 120))
}

// warnUnasked says that the agent ran tools without asking.
func (s *screen) warnUnasked() {
	s.mu.Lock()
	n := s.unasked
	s.mu.Unlock()
	const what = "ran without a permission request: the agent, or a proxy in front of it, decides about those by itself"
	switch {
	case n == 1:
		s.line("note", "1 tool call "+what)
	case n > 1:
		s.line("note", "%d tool calls "+what, n)
	}
}
