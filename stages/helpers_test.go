package stages_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/pipelinetest"
)

// speaker is a dialect made of data.
type speaker struct {
	claim pipeline.Claim
	err   error
}

func (speaker) Agent() pipeline.Agent { return pipelinetest.Agent }

func (s speaker) Claim(*pipeline.Request) (pipeline.Claim, error) { return s.claim, s.err }

// hinter is one that also tells equal options apart.
type hinter struct {
	speaker
	allow string
}

func (h hinter) Hint(*pipeline.Request) pipeline.OptionHint {
	return pipeline.OptionHint{Allow: h.allow}
}

// index holds one dialect for the instances of pipelinetest.
func index(t testing.TB, d dialects.Dialect) dialects.Set {
	t.Helper()
	set, err := dialects.Index([]dialects.Dialect{d})
	require.NoError(t, err)
	return set
}

// continues is a decision without an opinion that learned something.
func continues(reason pipeline.Reason, learned pipeline.Facts) pipeline.Decision {
	return pipeline.Decision{Verdict: pipeline.Continue, Learned: learned, Reason: reason}
}

// kept continues with the reason that keeps a request off the automatic path.
func kept(reason pipeline.Reason) pipeline.Decision {
	return continues(reason, pipeline.Facts{Kept: reason})
}

// refused also lets nothing identify the tool any more.
func refused(reason pipeline.Reason) pipeline.Decision {
	return continues(reason, pipeline.Facts{Identity: pipeline.RefusedIdentity(), Kept: reason})
}

func selects(option int, reason pipeline.Reason) pipeline.Decision {
	return pipeline.Decision{Verdict: pipeline.Select, Option: option, Reason: reason}
}

// listTasks is what earlier stages learn about the host's own tool.
func listTasks() pipeline.Facts {
	return pipeline.Facts{Identity: pipelinetest.Tool("kandev", "list_tasks")}
}
