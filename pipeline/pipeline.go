package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/samber/lo"
)

// Pipeline runs its stages in a fixed order. It is immutable and safe for
// concurrent use. The zero value asks a person about everything.
type Pipeline struct {
	members []member
	order   Order
}

// member keeps the name beside the stage, so that a stage whose Name changes
// later is still reported under the name it was placed with.
type member struct {
	name  Name
	stage Stage
}

// New builds a pipeline of the given stages in the given order. Each stage needs
// exactly one place in the order and each place exactly one stage; the error
// names every stage for which that is not so.
func New(order Order, stages []Stage) (*Pipeline, error) {
	byName := make(map[Name]Stage, len(stages))
	var problems []error
	for i, s := range stages {
		name, err := nameOf(s)
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("pipeline: stage number %d: %w", i+1, err))
		case byName[name] != nil:
			problems = append(problems, fmt.Errorf("pipeline: stage %q is registered twice", name))
		default:
			byName[name] = s
		}
	}
	for _, name := range lo.FindDuplicates(order) {
		problems = append(problems, fmt.Errorf("pipeline: stage %q has two places in the order", name))
	}
	p := &Pipeline{members: make([]member, 0, len(order)), order: slices.Clone(order)}
	for _, name := range order {
		s, ok := byName[name]
		if !ok {
			problems = append(problems, fmt.Errorf("pipeline: stage %q has a place in the order but is not registered", name))
			continue
		}
		p.members = append(p.members, member{name, s})
	}
	for _, s := range stages {
		if name, err := nameOf(s); err == nil && !slices.Contains(order, name) {
			problems = append(problems, fmt.Errorf("pipeline: stage %q is registered but has no place in the order", name))
		}
	}
	if len(order) == 0 {
		problems = append(problems, errors.New("pipeline: the order is empty"))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return p, nil
}

// nameOf reads a stage's name. A nil stage, also a nil pointer in the interface
// whose Name method fails, is an error and no panic.
func nameOf(s Stage) (name Name, err error) {
	defer func() {
		if recover() != nil {
			name, err = "", errors.New("is nil")
		}
	}()
	if name = s.Name(); name == "" {
		return "", errors.New("has no name")
	}
	return name, nil
}

// Order gives the names of the stages in the order in which they run.
func (p *Pipeline) Order() Order { return slices.Clone(p.order) }

// Decide runs the stages until one decides and keeps a full [Trace].
func (p *Pipeline) Decide(ctx context.Context, req *Request) Result {
	return p.run(ctx, req, Trace{names: p.order, continued: make([]said, 0, max(len(p.members)-1, 1))})
}

// DecideUntraced decides exactly like [Pipeline.Decide] but keeps no trace and
// allocates nothing.
func (p *Pipeline) DecideUntraced(ctx context.Context, req *Request) Result {
	return p.run(ctx, req, Trace{})
}

func (p *Pipeline) run(ctx context.Context, req *Request, trace Trace) (r Result) {
	if req == nil {
		return Result{Decision: Decision{Reason: ReasonNoRequest}}
	}
	r.Trace = trace
	ev := Evaluation{Request: req}
	var at *member
	defer func() { // one for all stages: a panic ends the decision wherever it happens
		if recover() != nil {
			r.end(at, &Decision{Reason: ReasonStagePanic}, &ev.Facts, &PanicError{Stage: at.name, Stack: debug.Stack()})
		}
	}()
	for i := range p.members {
		at = &p.members[i]
		d, err := at.stage.Evaluate(ctx, ev)
		if err != nil {
			d = Decision{Reason: ReasonStageError}
		}
		police(&d, req)
		learn(&ev.Facts, &d)
		if d.Verdict != Continue {
			r.end(at, &d, &ev.Facts, err)
			return r
		}
		r.Trace.pass(&d)
	}
	r.Decision.Reason, r.Facts = ReasonNothingDecided, ev.Facts
	return r
}

// end makes the result of the stage that decided, or failed.
func (r *Result) end(at *member, d *Decision, facts *Facts, err error) {
	r.Trace.end(d, err)
	r.Decision, r.Stage, r.Facts = *d, at.name, *facts
}

// learn merges what a stage learned; a fact that is set twice is a question to a
// person.
func learn(facts *Facts, d *Decision) {
	if !facts.merge(&d.Learned) {
		*d = Decision{Reason: ReasonFactSetTwice}
	}
}

// police turns what a stage may not say into a question to a person.
func police(d *Decision, req *Request) {
	switch {
	case d.Verdict == Continue:
		return
	case d.Verdict > Continue:
		*d = Decision{Reason: ReasonUnknownVerdict}
	case d.Verdict == Select && (d.Option < 0 || d.Option >= len(req.Options)):
		*d = Decision{Reason: ReasonOptionNotOffered}
	case d.Reason == "":
		d.Reason = ReasonUnnamed
	}
}

// PanicError reports a stage that panicked. The panic's value is not kept: it
// could hold anything from the request. The stack shows where.
type PanicError struct {
	Stage Name
	Stack []byte
}

// Error names the stage.
func (e *PanicError) Error() string { return fmt.Sprintf("pipeline: stage %q panicked", e.Stage) }
