package agents

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		agent    string
		env      []string
		injected bool
		want     []string
		added    []string
	}{
		"codex":                 {Codex, []string{"A=1"}, false, []string{"A=1", "INITIAL_AGENT_MODE=workspace-write"}, []string{"INITIAL_AGENT_MODE"}},
		"codex, injected":       {Codex, nil, true, []string{"INITIAL_AGENT_MODE=workspace-write", "DISABLE_MCP_CONFIG_FILTERING=true"}, []string{"INITIAL_AGENT_MODE", "DISABLE_MCP_CONFIG_FILTERING"}},
		"the user's own":        {Codex, []string{"INITIAL_AGENT_MODE=agent"}, false, []string{"INITIAL_AGENT_MODE=agent"}, nil},
		"a longer name is none": {Codex, []string{"INITIAL_AGENT_MODEL=x"}, false, []string{"INITIAL_AGENT_MODEL=x", "INITIAL_AGENT_MODE=workspace-write"}, []string{"INITIAL_AGENT_MODE"}},
		"needs nothing":         {"gemini-acp", []string{"A=1"}, true, []string{"A=1"}, nil},
		"unknown":               {"", []string{"A=1"}, true, []string{"A=1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, added := Launching(c.agent).Environment(c.env, c.injected)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.added, added)
		})
	}
}
