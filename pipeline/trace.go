package pipeline

import (
	"fmt"
	"log/slog"
	"strings"
)

// Result is the outcome of a pipeline, always safe to act on.
type Result struct {
	// Decision that counts. With [Select] its Option is an index into the offer.
	Decision Decision
	// Stage that decided; empty when every stage said continue.
	Stage Name
	// Facts as they stood at the end.
	Facts Facts
	// Trace holds every stage that ran; empty without tracing.
	Trace Trace
}

// Trace tells which stages ran, in order. It is kept small: names belong to the
// pipeline, and only the last stage can have failed. The zero value is empty.
type Trace struct {
	names     Order
	decisions []Decision
	err       error
}

// Step is one stage's part in a decision.
type Step struct {
	Stage    Name
	Decision Decision
	// Err is set when the stage failed or panicked. Its text is never printed
	// by this package: only the stage's author knows what it holds.
	Err error
}

// Len is the number of stages that ran.
func (t Trace) Len() int { return len(t.decisions) }

// Steps are the stages that ran, in order, with what each of them said.
func (t Trace) Steps() []Step {
	steps := make([]Step, len(t.decisions))
	for i, d := range t.decisions {
		steps[i] = Step{Stage: t.names[i], Decision: d}
	}
	if len(steps) > 0 {
		steps[len(steps)-1].Err = t.err
	}
	return steps
}

// add appends a decision, if there is a trace at all.
func (t *Trace) add(d *Decision) {
	if t.decisions != nil {
		t.decisions = append(t.decisions, *d)
	}
}

// fail keeps the error of the stage that ends the decision, if there is a trace.
func (t *Trace) fail(err error) {
	if t.decisions != nil {
		t.err = err
	}
}

// Explain says in words for people which stage said what and why: one line with
// the verdict, one line for each stage. It holds nothing from the request but
// server and tool, and those only after they passed the parser.
func (r Result) Explain() string {
	var b strings.Builder
	stage := r.Stage
	if stage == "" {
		stage = "no stage"
	}
	fmt.Fprintf(&b, "%s by %s: %s", r.Decision.Verdict, stage, r.Decision.Reason)
	if r.Facts.Identity.State() == Named {
		fmt.Fprintf(&b, " (tool %s of server %s)", r.Facts.Identity.Tool(), r.Facts.Identity.Server())
	}
	if r.Facts.Kept != "" && r.Facts.Kept != r.Decision.Reason {
		fmt.Fprintf(&b, " (not automatic: %s)", r.Facts.Kept)
	}
	b.WriteByte('\n')
	for _, s := range r.Trace.Steps() {
		fmt.Fprintf(&b, "  %-12s %-9s %s", s.Stage, s.Decision.Verdict, s.Decision.Reason)
		if s.Err != nil {
			fmt.Fprintf(&b, " [%T]", s.Err)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// LogValue makes a Result loggable without leaking anything of the request: no
// title, no label, no argument, no option id, no metadata.
func (r Result) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.String("verdict", r.Decision.Verdict.String()),
		slog.String("stage", string(r.Stage)),
		slog.String("reason", string(r.Decision.Reason)),
	}
	if id := r.Facts.Identity; id.State() == Named {
		attrs = append(attrs, slog.String("server", id.Server()), slog.String("tool", id.Tool()))
	}
	if r.Facts.Kept != "" {
		attrs = append(attrs, slog.String("kept", string(r.Facts.Kept)))
	}
	steps := make([]slog.Attr, 0, r.Trace.Len())
	for _, s := range r.Trace.Steps() {
		text := s.Decision.Verdict.String() + " " + string(s.Decision.Reason)
		if s.Err != nil {
			text += fmt.Sprintf(" [%T]", s.Err)
		}
		steps = append(steps, slog.String(string(s.Stage), text))
	}
	if len(steps) > 0 {
		attrs = append(attrs, slog.Attr{Key: "trace", Value: slog.GroupValue(steps...)})
	}
	return slog.GroupValue(attrs...)
}
