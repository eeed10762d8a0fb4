package stages_test

import (
	"testing"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/pipelinetest"
	"github.com/kandev/assent/stages"
)

func TestBlanket(t *testing.T) {
	on := pipeline.Instance{AutoApprove: true}
	offer := func(kinds ...string) *pipeline.Request { return pipelinetest.Request(pipelinetest.Options(kinds...)) }
	pipelinetest.RunPerInstance(t, stages.BlanketFactory().New, []pipelinetest.Case{
		{Name: "off", Want: continues(stages.ReasonBlanketOff, pipeline.Facts{})},
		{Name: "off, whatever the instance is otherwise", Instance: pipelinetest.Instance(),
			Want: continues(stages.ReasonBlanketOff, pipeline.Facts{})},
		{Name: "on: the first allow", Instance: on, Request: offer("reject_once", "allow_once", "allow_always"),
			Want: selects(1, stages.ReasonBlanketApproval)},
		{Name: "on: offered order, not reach", Instance: on, Request: offer("allow_always", "allow_once"),
			Want: selects(0, stages.ReasonBlanketApproval)},
		{Name: "on: no allow", Instance: on, Request: offer("reject_always", "reject_once"),
			Want: selects(0, stages.ReasonBlanketFirst)},
		{Name: "on: kinds are exact", Instance: on, Request: offer("reject_once", "Allow_once", "allow"),
			Want: selects(0, stages.ReasonBlanketFirst)},
		{Name: "on: nothing offered", Instance: on, Request: offer(),
			Want: continues(stages.ReasonBlanketNoOptions, pipeline.Facts{})},
	})
}
