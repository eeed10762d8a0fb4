package stages_test

import (
	"testing"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/pipelinetest"
	"github.com/kandev/assent/stages"
)

func TestIdentity(t *testing.T) {
	named := pipelinetest.Name("mcp__kandev__list_tasks")
	name := func(text pipeline.Text) pipelinetest.Edit {
		return func(r *pipeline.Request) { r.Call.Name = text }
	}
	contradictory := func(r *pipeline.Request) { r.Call.Contradictory = true }
	otherSubject := func(r *pipeline.Request) { r.Call.OtherSubject = true }
	other := func(reason pipeline.Reason) pipeline.Decision {
		return continues(reason, pipeline.Facts{Identity: pipeline.OtherIdentity(), Kept: reason})
	}
	request := pipelinetest.Request
	pipelinetest.RunPerInstance(t, stages.IdentityFactory().New, []pipelinetest.Case{
		{Name: "a qualified name", Request: request(named), Want: continues(pipeline.ReasonQualified, listTasks())},
		{Name: "a contradictory call", Request: request(named, contradictory), Want: refused(stages.ReasonContradictory)},
		{Name: "about no tool call", Request: request(named, otherSubject), Want: kept(stages.ReasonNoToolCall)},
		{Name: "contradictory and about no tool call", Request: request(contradictory, otherSubject), Want: refused(stages.ReasonContradictory)},
		{Name: "no name", Want: continues(stages.ReasonNameAbsent, pipeline.Facts{})},
		{Name: "a title is no name", Request: request(pipelinetest.Title("mcp__kandev__list_tasks", "other")),
			Want: continues(stages.ReasonNameAbsent, pipeline.Facts{})},
		{Name: "a name that is no string", Request: request(name(pipeline.WrongType())), Want: refused(stages.ReasonNameIsNoText)},
		{Name: "a name that is too long", Request: request(name(pipeline.TooLong())), Want: other(stages.ReasonNameTooLong)},
		{Name: "another name", Request: request(pipelinetest.Name("Bash")), Want: other(pipeline.ReasonNoPrefix)},
		{Name: "the empty name is supplied too", Request: request(pipelinetest.Name("")), Want: other(pipeline.ReasonNoPrefix)},
		{Name: "an ambiguous name", Request: request(pipelinetest.Name("mcp__kandev__external__execute")), Want: other(pipeline.ReasonSecondSeparator)},
		{Name: "an earlier stage kept it: its reason counts", Request: request(pipelinetest.Name("Bash")), Facts: pipeline.Facts{Kept: "earlier"},
			Want: continues(pipeline.ReasonNoPrefix, pipeline.Facts{Identity: pipeline.OtherIdentity()})},
	})
}
