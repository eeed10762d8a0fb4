package serve

import (
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/task"
)

// npmClient is what a run of the official SDK's client came to.
type npmClient struct {
	Tools   []string `json:"tools"`
	Results []struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"results"`
}

// text is what a call came to.
func (c npmClient) text(t testing.TB, call int) string {
	t.Helper()
	require.Greater(t, len(c.Results), call)
	require.NotEmpty(t, c.Results[call].Content)
	return c.Results[call].Content[0].Text
}

func (s stolen) npm(t testing.TB, calls string) (c npmClient) {
	t.Helper()
	out := s.client(t, calls)
	require.NoError(t, json.Unmarshal([]byte(out), &c), out)
	return c
}

// allow is the call that answers an offer.
func allow(o wireOffer) string {
	return fmt.Sprintf(`{"name":"resolve_agent_permission_kandev","arguments":{"session":%q,"request":%q,"choice":"allow"}}`, o.Session, o.Request)
}

// The client of the official TypeScript SDK lists what an agent asks and answers it, over
// streamable HTTP and over SSE, with a token of scope answer.
func TestTheOfficialClientAnswersAnOffer(t *testing.T) {
	r := begin(t, nil)
	p := r.dial(r.token("desk", all))
	p.watch()
	secret := r.token("chat", []string{"view", "answer"})
	for _, path := range []string{"mcp", "mcp/sse"} {
		made := p.start("shell over "+path, "shell")
		offer := p.opens(made.ID)
		way := stolen{r.URL() + path, "Bearer " + secret}

		listed := way.npm(t, `[{"name":"list_pending_agent_permissions_kandev","arguments":{}}]`)
		assert.ElementsMatch(t, []string{
			"list_tasks_kandev", "list_pending_agent_permissions_kandev", "resolve_agent_permission_kandev",
		}, listed.Tools, path)
		var open struct {
			Offers []wireOffer `json:"offers"`
		}
		require.NoError(t, json.Unmarshal([]byte(listed.text(t, 0)), &open))
		require.Len(t, open.Offers, 1, path)
		assert.Equal(t, offer, open.Offers[0], path)

		resolved := way.npm(t, "["+allow(open.Offers[0])+"]")
		require.JSONEq(t, `{"answered":true,"already_resolved":false}`, resolved.text(t, 0), path)
		over := p.closes(offer)
		assert.Equal(t, [...]string{"answered", "select", "chat", "mcp"}, [...]string{over.Outcome, over.Verdict, over.By.Name, over.By.Surface}, path)
		p.says(made.ID, "Ran: the shell command.")
		p.settles(made.ID, task.Idle)
	}
}

// With a token of scope view it has no such tools, and the offer stays open.
func TestTheOfficialClientMayOnlyLook(t *testing.T) {
	r := begin(t, nil)
	p := r.dial(r.token("desk", all))
	p.watch()
	offer := p.opens(p.start("shell", "shell").ID)
	way := r.external(r.token("looker", []string{"view"}))
	looked := way.npm(t, fmt.Sprintf(`[%s,
		{"name":"list_pending_agent_permissions_kandev","arguments":{}},
		{"name":"list_tasks_kandev","arguments":{}}
	]`, allow(offer)))
	assert.ElementsMatch(t, []string{"list_tasks_kandev"}, looked.Tools)
	for call := range 2 {
		assert.Contains(t, looked.text(t, call), "unknown tool")
		assert.True(t, looked.Results[call].IsError)
	}
	assert.Contains(t, looked.text(t, 2), offer.Task, "it sees the task")
	var open struct {
		Offers []wireOffer `json:"offers"`
	}
	p.ask("permission.list", "{}", &open)
	assert.Equal(t, []wireOffer{offer}, open.Offers)
}
