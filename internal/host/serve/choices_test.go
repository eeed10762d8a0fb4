package serve

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/task"
)

// Who may start tasks is told with which agents, and where they work unless limited to tasks; who may start
// them below others alone is told so, before and when it is tried.
func TestWhatATaskCanBeStartedWith(t *testing.T) {
	bold := agentOf(t, "agent")
	bold.AutoApprove, bold.Directory = true, ""
	r := begin(t, func(c *Config) {
		c.Agents["bold"] = bold
		demo := c.Agents["demo"]
		demo.bundled = true
		c.Agents["demo"] = demo
	})
	demo := agentView{"demo", r.config.Agents["demo"].Directory, true, true}
	desk := r.dial(r.token("desk", all))
	top := desk.start("top", "")
	type state struct {
		Agents  []agentView `json:"agents"`
		Limited bool        `json:"limited"`
	}
	for token, want := range map[string]state{
		r.token("everything", all):                      {[]agentView{{"bold", r.home, false, false}, demo}, false},
		r.token("looker", []string{"view"}):             {[]agentView{}, false},
		r.token("answerer", []string{"view", "answer"}): {[]agentView{}, false},
		r.token("bot", []string{"view", "operate"}):     {[]agentView{demo}, false},
		r.token("guest", all, string(top.ID)):           {[]agentView{{Name: "bold"}, {Name: "demo", Default: true, Demo: true}}, true},
	} {
		var got state
		r.dial(token).ask("state.watch", "{}", &got)
		assert.Equal(t, want, got)
	}
	guest := r.dial(r.token("child", all, string(top.ID)))
	refused, ok := guest.call("task.start", `{"title":"no"}`)
	require.True(t, ok)
	assert.Equal(t, &wireError{"forbidden", errLimited.Message}, refused.Error)
	var made wireTask
	guest.ask("task.start", fmt.Sprintf(`{"title":"yes","parent":%q}`, top.ID), &made)
	assert.Equal(t, task.Created, made.State)
}
