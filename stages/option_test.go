package stages_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/pipelinetest"
	"github.com/kandev/assent/stages"
)

func TestOption(t *testing.T) {
	injected := func(tool string) pipeline.Facts {
		return pipeline.Facts{Identity: pipelinetest.Tool("kandev", tool), Injected: true}
	}
	facts := func(change func(*pipeline.Facts)) pipeline.Facts {
		f := injected("list_tasks")
		change(&f)
		return f
	}
	offer := func(kinds ...string) *pipeline.Request { return pipelinetest.Request(pipelinetest.Options(kinds...)) }
	twins := pipelinetest.Request(func(r *pipeline.Request) {
		r.Options = []pipeline.Option{{ID: "switch", Kind: pipeline.AllowOnce}, {ID: "plain", Kind: pipeline.AllowOnce}}
	})
	guessed := pipelinetest.Instance()
	guessed.Guessed = true
	emptyID := offer("allow_once", "")

	set := index(t, hinter{allow: "plain"})
	pipelinetest.RunPerInstance(t, stages.OptionFactory(set, stages.DefaultNeverAutomatic()).New, []pipelinetest.Case{
		{Name: "once before always", Request: offer("allow_always", "allow_once"), Facts: injected("list_tasks"), Want: selects(1, stages.ReasonInjectedMCP)},
		{Name: "only always", Request: offer("reject_once", "allow_always"), Facts: injected("list_tasks"), Want: selects(1, stages.ReasonInjectedMCPAlways)},
		{Name: "no allow", Request: offer("reject_once"), Facts: injected("list_tasks"), Want: kept(pipeline.ReasonNoAllowOffered)},
		{Name: "an id twice", Request: offer("allow_once", "reject_once", "reject_once"), Facts: injected("list_tasks"), Want: kept(pipeline.ReasonDuplicateOption)},
		{Name: "an empty id", Request: emptyID, Facts: injected("list_tasks"), Want: kept(pipeline.ReasonEmptyOptionID)},
		{Name: "twins", Request: twins, Facts: injected("list_tasks"), Want: kept(pipeline.ReasonTwinAllows)},
		{Name: "twins with the dialect's hint", Instance: pipelinetest.Instance(), Request: twins, Facts: injected("list_tasks"), Want: selects(1, stages.ReasonInjectedMCP)},
		{Name: "a guessed agent gives no hint", Instance: guessed, Request: twins, Facts: injected("list_tasks"), Want: kept(pipeline.ReasonTwinAllows)},

		{Name: "not injected", Facts: listTasks(), Want: kept(stages.ReasonNotInjected)},
		{Name: "not injected, kept before", Facts: pipeline.Facts{Kept: "earlier"}, Want: continues(stages.ReasonNotInjected, pipeline.Facts{})},
		{Name: "identity refused afterwards", Facts: facts(func(f *pipeline.Facts) { f.Identity = pipeline.RefusedIdentity() }), Want: kept(stages.ReasonNotInjected)},
		{Name: "another stage objected", Facts: facts(func(f *pipeline.Facts) { f.Kept = "earlier" }), Want: continues(stages.ReasonKeptBefore, pipeline.Facts{})},

		{Name: "a tool that lists permissions", Facts: injected("list_pending_agent_permissions_kandev"), Want: kept(stages.ReasonNeverAutomatic)},
		{Name: "a tool that answers them", Facts: injected("resolve_agent_permission_kandev"), Want: kept(stages.ReasonNeverAutomatic)},
		{Name: "names of tools are exact", Facts: injected("resolve_agent_permission"), Want: selects(0, stages.ReasonInjectedMCP)},
	})
}

func TestOptionWithAListOfTheHost(t *testing.T) {
	factory := stages.OptionFactory(index(t, speaker{}), stages.NeverAutomatic{"drop_everything"})
	pipelinetest.RunPerInstance(t, factory.New, []pipelinetest.Case{
		{Name: "on it", Facts: pipeline.Facts{Identity: pipelinetest.Tool("kandev", "drop_everything"), Injected: true}, Want: kept(stages.ReasonNeverAutomatic)},
		{Name: "the default one is replaced", Want: selects(0, stages.ReasonInjectedMCP),
			Facts: pipeline.Facts{Identity: pipelinetest.Tool("kandev", "resolve_agent_permission_kandev"), Injected: true}},
	})
}

// An entry that no tool can match would look like protection and be none.
func TestOptionRefusesAListThatProtectsNothing(t *testing.T) {
	for tool, reason := range map[string]string{
		"":                  "name_with_empty_segment",
		"delete*":           "name_with_foreign_bytes",
		"mcp__kandev__drop": "name_with_second_separator",
	} {
		_, err := stages.NewOption(pipeline.Instance{}, nil, stages.NeverAutomatic{tool})
		assert.ErrorContains(t, err, reason)
	}
}
