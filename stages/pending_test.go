package stages_test

import (
	"testing"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/pipelinetest"
	"github.com/kandev/assent/stages"
)

func TestPending(t *testing.T) {
	pipelinetest.RunPerInstance(t, stages.PendingFactory().New, []pipelinetest.Case{
		{Name: "the reason that was kept", Facts: pipeline.Facts{Kept: "why"}, Want: pipeline.Decision{Verdict: pipeline.Pend, Reason: "why"}},
		{Name: "no reason was kept", Facts: listTasks(), Want: pipeline.Decision{Verdict: pipeline.Pend, Reason: stages.ReasonNobodyApproved}},
	})
}
