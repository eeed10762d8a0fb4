package stages_test

import (
	"testing"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/pipelinetest"
	"github.com/kandev/assent/stages"
)

func TestWitness(t *testing.T) {
	proven := pipeline.Facts{Identity: pipelinetest.Tool("kandev", "list_tasks"), Injected: true}
	seen := func(tools ...string) *pipeline.Request {
		return pipelinetest.Request(func(r *pipeline.Request) {
			r.Session.Announced, r.Session.Contacted, r.Session.OfferedTools = true, true, tools
		})
	}
	asks := func(reason pipeline.Reason) pipeline.Decision {
		return pipeline.Decision{Verdict: pipeline.Continue, Reason: reason, Learned: pipeline.Facts{Kept: reason}}
	}
	witnessed := pipeline.Decision{Verdict: pipeline.Continue, Reason: stages.ReasonWitnessed}
	kept := proven
	kept.Kept = "before"
	pipelinetest.Run(t, stages.Witness{}, []pipelinetest.Case{
		{Name: "listed, and the tool is there", Request: seen("create_task", "list_tasks"), Facts: proven, Want: witnessed},
		{Name: "a dot becomes an underscore", Request: seen("list.tasks"), Facts: proven, Want: witnessed},
		{Name: "and so does a letter outside ASCII", Request: seen("list\u00fctasks"), Facts: proven, Want: witnessed},
		{Name: "a longer name", Request: seen("list_tasks_kandev"), Facts: proven, Want: asks(stages.ReasonToolNotOffered)},
		{Name: "a shorter name", Request: seen("list_task"), Facts: proven, Want: asks(stages.ReasonToolNotOffered)},
		{Name: "another case", Request: seen("List_tasks"), Facts: proven, Want: asks(stages.ReasonToolNotOffered)},
		{Name: "no tools were offered", Request: seen(), Facts: proven, Want: asks(stages.ReasonToolNotOffered)},
		{Name: "never contacted", Request: pipelinetest.Request(func(r *pipeline.Request) { r.Session.Announced = true }), Facts: proven, Want: asks(stages.ReasonNotContacted)},
		{Name: "never announced", Request: pipelinetest.Request(func(r *pipeline.Request) {
			r.Session.Announced, r.Session.Contacted, r.Session.OfferedTools = false, true, []string{"list_tasks"}
		}), Facts: proven, Want: asks(stages.ReasonNoSessionSecret)},
		{Name: "not proven", Request: seen("list_tasks"), Facts: pipeline.Facts{Identity: pipelinetest.Tool("kandev", "list_tasks")}, Want: asks(stages.ReasonNothingProven)},
		{Name: "not proven, and kept before", Request: seen("list_tasks"), Facts: pipeline.Facts{Kept: "before"}, Want: pipeline.Decision{Verdict: pipeline.Continue, Reason: stages.ReasonNothingProven}},
		{Name: "kept before, but seen", Request: seen("list_tasks"), Facts: kept, Want: witnessed},
	})
}
