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
	p := &Pipeline{members: make([]member, 0, len(order))}
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
func (p *Pipeline) Order() Order {
	return lo.Map(p.members, func(m member, _ int) Name { return m.name })
}

// Decide runs the stages until one decides and keeps a full [Trace].
func (p *Pipeline) Decide(ctx context.Context, req *Request) Result {
	return p.run(ctx, req, make(Trace, 0, len(p.members)))
}

// DecideUntraced decides exactly like [Pipeline.Decide] but keeps no trace and
// allocates nothing.
func (p *Pipeline) DecideUntraced(ctx context.Context, req *Request) Result {
	return p.run(ctx, req, nil)
}

func (p *Pipeline) run(ctx context.Context, req *Request, trace Trace) Result {
	if req == nil {
		return Result{Decision: Decision{Reason: ReasonNoRequest}}
	}
	ev := Evaluation{Request: req}
	for i := range p.members {
		m := &p.members[i]
		d, err := evaluate(ctx, m, ev)
		facts, ok := ev.Facts.merge(d.Learned)
		switch {
		case err != nil: // evaluate named the reason
		case !ok:
			d = Decision{Reason: ReasonFactSetTwice}
		default:
			if d, ok = police(d, req); ok {
				ev.Facts = facts
			}
		}
		if trace != nil {
			trace = append(trace, Step{Stage: m.name, Decision: d, Err: err})
		}
		if d.Verdict != Continue {
			return Result{Decision: d, Stage: m.name, Facts: ev.Facts, Trace: trace}
		}
	}
	return Result{Decision: Decision{Reason: ReasonNothingDecided}, Facts: ev.Facts, Trace: trace}
}

// police turns what a stage may not say into a question to a person, and says
// whether the decision is the stage's own. What a stage learned does not count
// when its decision cannot be believed.
func police(d Decision, req *Request) (Decision, bool) {
	switch d.Verdict {
	case Pend, Cancel:
	case Continue:
		return d, true
	case Select:
		if d.Option < 0 || d.Option >= len(req.Options) {
			return Decision{Reason: ReasonOptionNotOffered}, false
		}
	default:
		return Decision{Reason: ReasonUnknownVerdict}, false
	}
	if d.Reason == "" {
		d.Reason = ReasonUnnamed
	}
	return d, true
}

// PanicError reports a stage that panicked. The panic's value is not kept: it
// could hold anything from the request. The stack shows where.
type PanicError struct {
	Stage Name
	Stack []byte
}

// Error names the stage.
func (e *PanicError) Error() string { return fmt.Sprintf("pipeline: stage %q panicked", e.Stage) }

// evaluate calls one stage; an error or a panic becomes a question to a person.
func evaluate(ctx context.Context, m *member, ev Evaluation) (d Decision, err error) {
	defer func() {
		if recover() != nil {
			d, err = Decision{Reason: ReasonStagePanic}, &PanicError{Stage: m.name, Stack: debug.Stack()}
		}
	}()
	d, err = m.stage.Evaluate(ctx, ev)
	if err != nil {
		return Decision{Reason: ReasonStageError}, err
	}
	return d, nil
}
