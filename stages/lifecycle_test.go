package stages_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/pipelinetest"
	"github.com/kandev/assent/stages"
)

// decide runs a request of the Claude agent through everything in its default.
func decide(t *testing.T, change func(*pipeline.Instance), edits ...pipelinetest.Edit) pipeline.Result {
	t.Helper()
	instance := pipelinetest.Instance()
	instance.Agent = "claude-acp"
	change(&instance)
	factory, err := stages.NewDefaultFactory()
	require.NoError(t, err)
	p, err := factory(instance)
	require.NoError(t, err)
	return p.Decide(context.Background(), pipelinetest.Request(edits...))
}

func unchanged(*pipeline.Instance) {}

// Asked why it pends, a request names every stage that ran with its verdict, and
// first of all the fact that kept it off the automatic path.
func TestL62_APendingRequestExplainsItself(t *testing.T) {
	r := decide(t, unchanged, pipelinetest.Name("mcp__kandev__external__execute"))
	assert.Equal(t, "pend by pending: name_with_second_separator\n"+
		"  blanket      continue  no_blanket_approval\n"+
		"  identity     continue  name_with_second_separator\n"+
		"  dialect      continue  claude_name_stands\n"+
		"  provenance   continue  tool_not_identified\n"+
		"  option       continue  not_injected\n"+
		"  pending      pend      name_with_second_separator\n", r.Explain())

	r = decide(t, func(i *pipeline.Instance) { i.Port++ }, pipelinetest.Name("mcp__kandev__list_tasks"))
	assert.Equal(t, "pend by pending: reserved_entry_address (tool list_tasks of server kandev)\n"+
		"  blanket      continue  no_blanket_approval\n"+
		"  identity     continue  qualified_name\n"+
		"  dialect      continue  claude_name_stands\n"+
		"  provenance   continue  reserved_entry_address\n"+
		"  option       continue  not_injected\n"+
		"  pending      pend      reserved_entry_address\n", r.Explain())
}

// A title alone identifies a tool of an old Claude adapter, unless that is off.
func TestL64_TitleFallbackSwitchedOff(t *testing.T) {
	title := pipelinetest.Title("mcp__kandev__list_tasks", "other")
	assert.Equal(t, selects(0, stages.ReasonInjectedMCP), decide(t, unchanged, title).Decision)
	off := decide(t, func(i *pipeline.Instance) { i.NoTitleFallback = true }, title)
	assert.Equal(t, pipeline.Pend, off.Decision.Verdict)
	assert.Equal(t, stages.PendingName, off.Stage)
}
