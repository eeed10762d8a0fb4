package pipeline_test

import (
	"context"

	"github.com/kandev/assent/pipeline"
)

// stage is a stage made of data: it always answers the same.
type stage struct {
	name     pipeline.Name
	decision pipeline.Decision
	err      error
	panics   any
	called   *[]pipeline.Name
}

func (s stage) Name() pipeline.Name { return s.name }

func (s stage) Evaluate(context.Context, pipeline.Evaluation) (pipeline.Decision, error) {
	if s.called != nil {
		*s.called = append(*s.called, s.name)
	}
	if s.panics != nil {
		panic(s.panics)
	}
	return s.decision, s.err
}

// silent has no opinion.
func silent(name pipeline.Name) stage {
	return stage{name: name, decision: pipeline.Decision{Verdict: pipeline.Continue, Reason: "no_opinion"}}
}

// selects approves with the first option.
func selects(name pipeline.Name) stage {
	return stage{name: name, decision: pipeline.Decision{Verdict: pipeline.Select, Reason: "approved"}}
}

// learns continues with facts.
func learns(name pipeline.Name, f pipeline.Facts) stage {
	return stage{name: name, decision: pipeline.Decision{Verdict: pipeline.Continue, Learned: f, Reason: "learned"}}
}

func named(server, tool string) pipeline.Identity {
	id, _ := pipeline.NewIdentity(pipeline.ClaimTool(server, tool))
	return id
}

// offer is a request with two options.
func offer() *pipeline.Request {
	return &pipeline.Request{Options: []pipeline.Option{
		{ID: "allow", Kind: pipeline.AllowOnce},
		{ID: "reject", Kind: pipeline.RejectOnce},
	}}
}
