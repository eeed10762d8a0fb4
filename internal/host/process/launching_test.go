package process

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/endpoint"
)

// An agent that does not ask by default is told to, before anything else.
func TestAnAgentIsToldToAsk(t *testing.T) {
	s := newStage(t, "begins quietly")
	session, err := s.start(t).NewSession(t.Context(), t.TempDir())
	require.NoError(t, err)
	_, err = session.Prompt(t.Context(), "hello")
	require.NoError(t, err)
	assert.Equal(t, "session/set_mode, then session/prompt", receive(t, s.says))
}

func TestAnAgentThatIsToldByItsEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		agent  string
		inject bool
		env    []string
		want   string
	}{
		"codex":           {"codex-acp", false, nil, "workspace-write "},
		"codex, injected": {"codex-acp", true, nil, "workspace-write true"},
		"the user's own":  {"codex-acp", true, []string{"INITIAL_AGENT_MODE=agent"}, "agent true"},
		"another agent":   {"claude-acp", true, nil, " "},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "says its environment", func(_ *Options, l *Launch) {
				l.Config.Agent = c.agent
				l.Command.Env = append(l.Command.Env, c.env...)
				if c.inject {
					l.Endpoint = &endpoint.Options{}
				}
			})
			session, err := s.start(t).NewSession(t.Context(), t.TempDir())
			require.NoError(t, err)
			_, err = session.Prompt(t.Context(), "hello")
			require.NoError(t, err)
			assert.Equal(t, c.want, receive(t, s.says))
		})
	}
}
