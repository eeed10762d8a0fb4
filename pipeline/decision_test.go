package pipeline_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/pipeline"
)

func TestVerdictString(t *testing.T) {
	for v, want := range map[pipeline.Verdict]string{
		pipeline.Pend:     "pend",
		pipeline.Select:   "select",
		pipeline.Cancel:   "cancel",
		pipeline.Continue: "continue",
		99:                "verdict(99)",
	} {
		assert.Equal(t, want, v.String())
	}
}

// The zero values are the careful ones.
func TestZeroValues(t *testing.T) {
	assert.Equal(t, pipeline.Pend, pipeline.Decision{}.Verdict)
	assert.Equal(t, pipeline.Pend, pipeline.Result{}.Decision.Verdict)
	assert.Equal(t, pipeline.Unknown, pipeline.Identity{}.State())
	assert.Equal(t, pipeline.TextAbsent, pipeline.Text{}.State())
	assert.Equal(t, pipeline.MetaAbsent, pipeline.Meta{}.Kind())
	assert.Empty(t, pipeline.Session{}.Lists)
	assert.NoError(t, pipeline.Instance{}.Check())
}

func TestIdentityStateString(t *testing.T) {
	for s, want := range map[pipeline.IdentityState]string{
		pipeline.Unknown: "unknown",
		pipeline.Named:   "named",
		pipeline.Other:   "other",
		pipeline.Refused: "refused",
		99:               "refused",
	} {
		assert.Equal(t, want, s.String())
	}
}
