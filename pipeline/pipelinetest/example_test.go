package pipelinetest_test

import (
	"context"
	"testing"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/pipelinetest"
)

// Quiet asks a person about requests without a title.
type Quiet struct{}

func (Quiet) Name() pipeline.Name { return "quiet" }

func (Quiet) Evaluate(_ context.Context, ev pipeline.Evaluation) (pipeline.Decision, error) {
	if ev.Request.Call.Title.State() != pipeline.TextGiven {
		return pipeline.Decision{Verdict: pipeline.Pend, Reason: "no_title"}, nil
	}
	return pipeline.Decision{Verdict: pipeline.Continue, Reason: "has_title"}, nil
}

// A stage's test is data.
func Example() {
	_ = func(t *testing.T) { // func TestQuiet(t *testing.T) {
		pipelinetest.Run(t, Quiet{}, []pipelinetest.Case{{
			Name: "no title",
			Want: pipeline.Decision{Verdict: pipeline.Pend, Reason: "no_title"},
		}, {
			Name:    "a title",
			Request: pipelinetest.Request(pipelinetest.Title("Read a page", "read")),
			Want:    pipeline.Decision{Verdict: pipeline.Continue, Reason: "has_title"},
		}})
	}
}
