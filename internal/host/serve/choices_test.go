package serve

import (
	"fmt"
	"path/filepath"
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

// Whether a folder is there is told to who may start a task, and to nobody else: what is
// refused says the same of every directory.
func TestWhoLearnsWhetherAFolderIsThere(t *testing.T) {
	bold := agentOf(t, "agent")
	bold.AutoApprove = true
	r := begin(t, func(c *Config) { c.Agents["bold"] = bold })
	desk := r.dial(r.token("desk", all))
	mine, theirs := desk.start("mine", ""), desk.start("theirs", "")
	there := t.TempDir()
	gone, inside := filepath.Join(there, "gone"), filepath.Base(there)
	guest, bot := r.dial(r.token("guest", all, string(mine.ID))), r.dial(r.token("bot", []string{"view", "operate"}))
	for name, test := range map[string]struct {
		who   *peer
		where string
		told  string // of every directory; empty: what is true of it
	}{
		"everything":                    {desk, "", ""},
		"below a task that it sees":     {guest, fmt.Sprintf(`,"parent":%q`, mine.ID), ""},
		"limited, at the top":           {guest, "", errLimited.Message},
		"below another's task":          {guest, fmt.Sprintf(`,"parent":%q`, theirs.ID), errNoParent.Message},
		"below no task":                 {desk, `,"parent":"task-unknown"`, errNoParent.Message},
		"an agent that is none":         {desk, `,"agent":"nobody"`, errNoAgent.Message},
		"an agent that it may not tell": {bot, `,"agent":"bold"`, errNoAnswer.Message},
	} {
		t.Run(name, func(t *testing.T) {
			for dir, is := range map[string]bool{there: true, gone: false, inside: false} {
				m, ok := test.who.call("task.start", fmt.Sprintf(`{"title":"x","directory":%q%s}`, dir, test.where))
				require.True(t, ok)
				switch {
				case test.told != "":
					require.NotNil(t, m.Error)
					assert.Equal(t, test.told, m.Error.Message)
				case is:
					assert.Nil(t, m.Error)
				default:
					assert.Equal(t, &wireError{"invalid_payload", errDirectory.Message}, m.Error)
				}
			}
		})
	}
}
