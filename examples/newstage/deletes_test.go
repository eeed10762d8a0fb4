package newstage_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/examples/newstage"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/pipelinetest"
	"github.com/kandev/assent/stages"
)

func TestDeletes(t *testing.T) {
	tool := func(name string) pipeline.Facts { return pipeline.Facts{Identity: pipelinetest.Tool("kandev", name)} }
	pipelinetest.Run(t, newstage.Deletes{}, []pipelinetest.Case{
		{Name: "it deletes", Facts: tool("delete_task"), Want: pipeline.Decision{Verdict: pipeline.Pend, Reason: newstage.ReasonDeletes}},
		{Name: "it does not", Facts: tool("list_tasks"), Want: pipeline.Decision{Verdict: pipeline.Continue, Reason: newstage.ReasonDeletesNot}},
		{Name: "nobody knows it", Want: pipeline.Decision{Verdict: pipeline.Continue, Reason: newstage.ReasonNobodyKnowsIt}},
	})
}

// A host without fx composes like this. Each of the two lines is missed by name.
func TestCompose(t *testing.T) {
	set, err := dialects.Index(dialects.All())
	require.NoError(t, err)

	_, err = stages.NewPipelineFactory(newstage.Order(), append(stages.Builtin(set), newstage.Factory()))
	assert.NoError(t, err)
	_, err = stages.NewPipelineFactory(newstage.Order(), stages.Builtin(set))
	assert.EqualError(t, err, `pipeline: stage "deletes" has a place in the order but is not registered`)
	_, err = stages.NewPipelineFactory(stages.DefaultOrder(), append(stages.Builtin(set), newstage.Factory()))
	assert.EqualError(t, err, `pipeline: stage "deletes" is registered but has no place in the order`)
}
