package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/task"
	"github.com/kandev/assent/pipeline"
)

// An offer of the run before, answered after a restart: nothing reaches any agent.
func TestL05AnOfferOfTheRunBefore(t *testing.T) {
	first := begin(t, nil)
	secret := first.token("desk", all)
	p := first.dial(secret)
	p.watch()
	made := p.start("hello", "shell")
	old := p.opens(made.ID)
	first.stop()

	second := beginIn(t, first.dir, nil)
	p = second.dial(secret)
	now := p.watch()
	assert.NotEqual(t, first.run, now.Server, "a card of another run is one that is gone")
	assert.Empty(t, now.Offers)
	for _, answer := range []string{`{"choice":"allow"}`, `{"option":"allow-once"}`} {
		assert.Equal(t, "not_found", p.refused("permission.resolve", old.resolve(answer)))
	}
	fresh := p.start("again", "shell")
	open := p.opens(fresh.ID)
	assert.NotEqual(t, old.Request, open.Request, "no id is used again")
	mixed := open
	mixed.Request = old.Request
	assert.Equal(t, "not_found", p.refused("permission.resolve", mixed.resolve(`{"choice":"allow"}`)))
	for _, r := range second.records() {
		if r.Event == audit.Answer && r.Run == second.audit.Run() {
			assert.Fail(t, "an agent was answered", r.Request)
		}
	}
	p.ask("permission.resolve", open.resolve(`{"choice":"allow"}`), nil)
	p.says(fresh.ID, "Ran: the shell command.")
}

// An offer that is approved automatically is never pending, on no client.
func TestL17AnAutomaticApprovalIsNoCard(t *testing.T) {
	r := begin(t, nil)
	p := r.dial(r.token("desk", all))
	p.watch()
	made := p.start("plan", `plan "Buy milk"`)
	p.says(made.ID, "Ran: create_task_kandev of kandev, list_tasks_kandev of kandev.")
	p.settles(made.ID, task.Idle)
	var tools []string
	p.mu.Lock()
	for _, e := range p.events {
		assert.False(t, strings.HasPrefix(e.Event, "offer."), e.Event)
		var d struct {
			Decision decisionView `json:"decision"`
		}
		if e.Event == "decision" {
			require.NoError(t, json.Unmarshal(e.Payload, &d))
			tools = append(tools, d.Decision.Tool+" "+d.Decision.Verdict+" "+d.Decision.Kind)
		}
	}
	p.mu.Unlock()
	assert.Equal(t, []string{"create_task_kandev select allow_once", "list_tasks_kandev select allow_once"}, tools)
	again := p.watch()
	assert.Empty(t, again.Offers)
	assert.Len(t, again.Decisions, 2)
	require.Len(t, again.Tasks, 2, "the tool really ran")
	assert.Equal(t, made.ID, again.Tasks[1].Parent)

	p.ask("task.prompt", fmt.Sprintf(`{"task":%q,"text":"shell"}`, made.ID), nil)
	p.ask("permission.resolve", p.opens(made.ID).resolve(`{"choice":"deny"}`), nil) // the twin is one
}

// No spelling of the marker gets into an instance: not by a request, not by a file.
func TestL40NoRequestAndNoFileSetsTheMarker(t *testing.T) {
	r := begin(t, nil)
	p := r.dial(r.token("desk", all))
	p.watch()
	for _, key := range []string{"InjectedKandevMCP", "injected_kandev_mcp", "injectedkandevmcp", "injectedKandevMCP", "injected"} {
		for _, payload := range []string{`{"title":"x","prompt":"shell",%q:true}`, `{"title":"x","prompt":"shell","overrides":{%q:true}}`} {
			assert.Equal(t, "invalid_payload", p.refused("task.start", fmt.Sprintf(payload, key)), key)
		}
		file := filepath.Join(t.TempDir(), "serve.toml")
		for _, text := range []string{"%s = true\n[agents.a]\ncommand = [\"x\"]\n", "[agents.a]\ncommand = [\"x\"]\n%s = true\n"} {
			require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, text, key), 0o600))
			_, err := ReadConfig(file)
			assert.ErrorContains(t, err, "there is no setting", key)
		}
	}
	assert.Empty(t, p.watch().Tasks, "nothing was begun")
	made := p.start("twin", "shell")
	p.ask("permission.resolve", p.opens(made.ID).resolve(`{"choice":"deny"}`), nil) // the instance asks
}

// Other clients are told of which task an offer is, and which of two agents with one id
// asks.
func TestWhoseAnOfferIs(t *testing.T) {
	r := begin(t, func(c *Config) { c.Agents["second"] = c.Agents["demo"] })
	secret := r.token("desk", all)
	p := r.dial(secret)
	p.watch()
	var made wireTask
	first := p.start("one thing", "shell")
	p.ask("task.start", `{"title":"another \u202ething","prompt":"shell","agent":"second"}`, &made)
	want := map[string][2]string{p.opens(first.ID).Request: {"one thing", r.config.DefaultAgent}, p.opens(made.ID).Request: {`another \u202ething`, "second"}}
	listed, failed := tool(t, r.external(secret).connect(t), "list_pending_agent_permissions_kandev", nil)
	require.False(t, failed, listed)
	var got struct {
		Offers []struct {
			Request string `json:"request"`
			Title   string `json:"task_title"`
			Agent   string `json:"task_agent"`
		} `json:"offers"`
	}
	require.NoError(t, json.Unmarshal([]byte(listed), &got))
	told := map[string][2]string{}
	for _, o := range got.Offers {
		told[o.Request] = [2]string{o.Title, o.Agent}
	}
	assert.Equal(t, want, told)
}

// A secret in title, arguments and metadata of an offer is on no surface that others
// see; the agent gets the untouched id of the option.
func TestL51RemoteSurfacesAreRedacted(t *testing.T) {
	r := begin(t, withKeeper(t))
	secret := r.token("desk", all)
	p := r.dial(secret)
	p.watch()
	made := p.start("ask", "offer")
	offer := p.opens(made.ID)
	assert.Contains(t, offer.Action.Command, "https://example.com/")
	assert.Equal(t, oddOption, offer.Options[0].ID)

	mcp := r.external(secret).connect(t)
	listed, failed := tool(t, mcp, "list_pending_agent_permissions_kandev", nil)
	require.False(t, failed, listed)
	assert.Contains(t, listed, offer.Request)
	whole, ok := p.call("state.watch", "{}")
	require.True(t, ok)
	list, ok := p.call("permission.list", "{}")
	require.True(t, ok)
	for _, text := range []string{listed, string(whole.Result), string(list.Result)} {
		assert.NotContains(t, text, hiddenWord)
	}
	detail, ok := p.call("permission.detail", fmt.Sprintf(`{"session":%q,"request":%q}`, offer.Session, offer.Request))
	require.True(t, ok)
	assert.Contains(t, string(detail.Result), hiddenWord, "a person who asks has to see what would run")

	text, failed := tool(t, mcp, "resolve_agent_permission_kandev", map[string]any{"session": offer.Session, "request": offer.Request, "option": oddOption})
	require.False(t, failed, text)
	option, err := json.Marshal(oddOption)
	require.NoError(t, err)
	sent := until(p, "task.text", func(e textEvent) bool { return strings.HasPrefix(e.Text, "answered: ") })
	assert.Contains(t, strings.ReplaceAll(sent.Text, `\u202e`, "\u202e"), strings.ReplaceAll(string(option), `\u202e`, "\u202e"))
	assert.Equal(t, "mcp", p.closes(offer).By.Surface)

	p.mu.Lock()
	for _, e := range p.events {
		assert.NotContains(t, string(e.Payload), hiddenWord, e.Event)
	}
	p.mu.Unlock()
	assert.NotContains(t, r.log.String(), hiddenWord)
	for _, record := range r.records() {
		assert.NotContains(t, fmt.Sprintf("%+v", record), hiddenWord)
		if record.Event == audit.Answer {
			assert.Equal(t, pipeline.AllowOnce, record.OptionKind)
			assert.Equal(t, "desk", record.By)
		}
	}
}
