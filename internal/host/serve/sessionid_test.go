package serve

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/internal/host/task"
)

// A session whose id cannot be stored is refused, and people are told why; the longest
// that can be stored is taken.
func TestIDsOfSessions(t *testing.T) {
	for name, length := range map[string]int{"the longest": 256, "too long": 257} {
		t.Run(name, func(t *testing.T) {
			id := strings.Repeat("s", length)
			r := begin(t, func(c *Config) {
				keeper := agentOf(t, "keeper")
				keeper.Env[sessionVariable] = id
				keeper.Directory = t.TempDir()
				c.Agents["keeper"], c.DefaultAgent = keeper, "keeper"
			})
			p := r.dial(r.token("desk", all))
			p.watch()
			made := p.start("task", "hello")
			if length > 256 {
				p.settles(made.ID, task.Failed)
				assert.Contains(t, r.runner.note(made.ID), "the id that the agent gave its session cannot be kept: the session has 257 characters")
				assert.NotContains(t, r.log.String(), id)
				return
			}
			p.says(made.ID, "heard: hello")
			p.settles(made.ID, task.Idle)
			assert.Equal(t, id, r.sessionOf(t, made.ID))
		})
	}
}

// sessionOf is the session that is stored for a task.
func (r *rig) sessionOf(t *testing.T, id task.ID) string {
	t.Helper()
	got, err := r.tasks.Get(task.Host{}, id)
	assert.NoError(t, err)
	return got.Session
}
