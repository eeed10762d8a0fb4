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
	continued []said   // of the stages that had no opinion
	last      Decision // of the one that decided, or failed
	ended     bool     // last is there
	err       error
}

// said is what is left of a decision to continue.
type said struct {
	learned Facts
	reason  Reason
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
func (t Trace) Len() int {
	if t.ended {
		return len(t.continued) + 1
	}
	return len(t.continued)
}

// Steps are the stages that ran, in order, with what each of them said.
func (t Trace) Steps() []Step {
	steps := make([]Step, 0, t.Len())
	for i, s := range t.continued {
		steps = append(steps, Step{Stage: t.names[i], Decision: Decision{Verdict: Continue, Learned: s.learned, Reason: s.reason}})
	}
	if t.ended {
		steps = append(steps, Step{Stage: t.names[len(steps)], Decision: t.last, Err: t.err})
	}
	return steps
}

// pass adds a stage that had no opinion, if there is a trace at all.
func (t *Trace) pass(d *Decision) {
	if t.continued != nil {
		t.continued = append(t.continued, said{d.Learned, d.Reason})
	}
}

// end adds the stage that ends the decision, if there is a trace at all.
func (t *Trace) end(d *Decision, err error) {
	if t.continued != nil {
		t.last, t.ended, t.err = *d, true, err
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
