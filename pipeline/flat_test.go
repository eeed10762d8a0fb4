package pipeline_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/pipeline"
)

func TestFlatName(t *testing.T) {
	for name, want := range map[string]string{
		"kandev": "kandev", "my server.v2": "my_server_v2", "k\u00e4ndev": "k_ndev", "a-b_C9": "a-b_C9", "": "", "\U0001f600": "_", "\xff": "_",
	} {
		assert.Equal(t, want, pipeline.FlatName(name))
	}
	assert.Zero(t, testing.AllocsPerRun(10, func() { _ = pipeline.FlatName("kandev") }))
}
