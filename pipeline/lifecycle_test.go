package pipeline_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/pipeline"
)

// A third-party stage without an opinion says so and the next one decides; an
// empty decision asks a person. Approval is explicit and attributed.
func TestL60_NoOpinionIsNoApproval(t *testing.T) {
	r := build(t, silent("guard"), selects("approver")).Decide(context.Background(), offer())
	assert.Equal(t, pipeline.Select, r.Decision.Verdict)
	assert.Equal(t, pipeline.Name("approver"), r.Stage)

	r = build(t, stage{name: "guard"}, selects("approver")).Decide(context.Background(), offer())
	assert.Equal(t, pipeline.Decision{Reason: pipeline.ReasonUnnamed}, r.Decision)
	assert.Equal(t, pipeline.Name("guard"), r.Stage)
}

// A stage that breaks the rules never decides: a person does, and the log says
// which stage it was and why.
func TestL61_MisbehavingStagesAsk(t *testing.T) {
	twice := pipeline.Facts{Injected: true}
	for reason, s := range map[pipeline.Reason]stage{
		pipeline.ReasonStageError:       {err: errors.New("broken")},
		pipeline.ReasonStagePanic:       {panics: "broken"},
		pipeline.ReasonUnknownVerdict:   {decision: pipeline.Decision{Verdict: 42, Reason: "why"}},
		pipeline.ReasonOptionNotOffered: {decision: pipeline.Decision{Verdict: pipeline.Select, Option: 9, Reason: "why"}},
		pipeline.ReasonFactSetTwice:     {decision: pipeline.Decision{Verdict: pipeline.Select, Learned: twice, Reason: "why"}},
	} {
		t.Run(string(reason), func(t *testing.T) {
			s.name = "misfit"
			r := build(t, learns("first", twice), s, selects("approver")).Decide(context.Background(), offer())
			assert.Equal(t, pipeline.Decision{Reason: reason}, r.Decision)
			assert.Equal(t, pipeline.Name("misfit"), r.Stage)
			assert.Contains(t, logged("r", r), "r.stage=misfit r.reason="+string(reason))
		})
	}
}
