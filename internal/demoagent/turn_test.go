package demoagent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
)

// proofCommand leaves a file behind, in every shell.
const proofCommand = "echo ran> proof"

const (
	createName = "mcp__kandev__create_task_kandev"
	listName   = "mcp__kandev__list_tasks_kandev"
	pingName   = "mcp__other__ping"
)

var prompts = []struct {
	prompt string
	asked  []string
	ran    []string // at MCP servers
	shell  bool
}{
	{"plan", []string{createName, listName}, []string{"kandev/create_task_kandev", "kandev/list_tasks_kandev"}, false},
	{"other", []string{pingName}, []string{"other/ping"}, false},
	{"shell", []string{"Bash"}, nil, true},
	{"mixed", []string{createName, pingName, "Bash"}, []string{"kandev/create_task_kandev", "other/ping"}, true},
	{"shell plan", []string{"Bash", createName, listName}, []string{"kandev/create_task_kandev", "kandev/list_tasks_kandev"}, true},
}

var answers = []struct {
	name, answer string
	allows       bool
	summary      string // why it did not run
}{
	{"allow once", selects("allow-once"), true, ""},
	{"allow always", selects("allow-with-updates"), true, ""},
	{"with metadata", `"result":{"_meta":{"a":1},"outcome":{"outcome":"selected","optionId":"allow-once","_meta":null}}`, true, ""},
	{"reject", selects("reject"), false, "rejected"},
	{"cancelled", answerCancelled, false, "cancelled"},
	{"cancelled, with an option", `"result":{"outcome":{"outcome":"cancelled","optionId":"allow-once"}}`, false, "cancelled"},
	{"unknown option", selects("allow"), false, "not offered"},
	{"option in another case", selects("Allow-Once"), false, "not offered"},
	{"option with a space", selects("allow-once "), false, "not offered"},
	{"empty option", selects(""), false, "not offered"},
	{"a kind for an id", selects("allow_once"), false, "not offered"},
	{"no option", `"result":{"outcome":{"outcome":"selected"}}`, false, "not offered"},
	{"option null", `"result":{"outcome":{"outcome":"selected","optionId":null}}`, false, "not offered"},
	{"option a list", `"result":{"outcome":{"outcome":"selected","optionId":["allow-once"]}}`, false, "not understood"},
	{"option twice", `"result":{"outcome":{"outcome":"selected","optionId":"reject","optionId":"allow-once"}}`, false, "not understood"},
	{"result twice", answerCancelled + "," + selects("allow-once"), false, "not understood"},
	{"keys in another case", `"result":{"Outcome":{"outcome":"selected","optionId":"allow-once"}}`, false, "not understood"},
	{"outcome a string", `"result":{"outcome":"selected","optionId":"allow-once"}`, false, "not understood"},
	{"unknown outcome", `"result":{"outcome":{"outcome":"allowed","optionId":"allow-once"}}`, false, "not understood"},
	{"empty result", `"result":{}`, false, "not understood"},
	{"null", `"result":null`, false, "not understood"},
	{"error", answerError, false, "error"},
	{"error beside a result", answerError + "," + selects("allow-once"), false, "error"},
}

func TestToolsRunOnlyWhenAllowed(t *testing.T) {
	for _, p := range prompts {
		for _, a := range answers {
			t.Run(p.prompt+"/"+a.name, func(t *testing.T) {
				ran, servers := twoServers(t)
				c := start(t, Options{ShellCommand: proofCommand})
				dir := c.open(servers...)
				got := c.prompt(p.prompt, always(a.answer))

				assert.Equal(t, "end_turn", got.stop, "the turn goes on to its end")
				assert.Equal(t, p.asked, got.asked)
				_, err := os.Stat(filepath.Join(dir, "proof"))
				if a.allows {
					assert.Equal(t, p.ran, ran.tools())
					assert.Equal(t, p.shell, err == nil, "the command left its file")
					assert.Equal(t, len(p.asked), count(got.ends, "completed"))
					assert.Contains(t, got.said, "Ran: ")
					assert.NotContains(t, got.said, "Did not run: ")
					return
				}
				assert.Empty(t, ran.tools())
				assert.ErrorIs(t, err, os.ErrNotExist)
				assert.Equal(t, len(p.asked), count(got.ends, "failed"))
				assert.NotContains(t, got.said, "Ran: ")
				assert.Contains(t, got.said, "Did not run: ")
				assert.Contains(t, got.said, a.summary)
			})
		}
	}
}

func TestFramesAreIdentified(t *testing.T) {
	_, servers := twoServers(t)
	c := start(t, Options{})
	c.open(servers...)
	c.prompt("mixed", always(selects("reject")))
	require.Len(t, c.offers, 3)

	claude := dialects.NewClaude()
	for i, want := range []pipeline.Claim{
		pipeline.ClaimTool("kandev", "create_task_kandev"), pipeline.ClaimTool("other", "ping"), pipeline.ClaimName("Bash"),
	} {
		req := &c.offers[i].Request
		claim, err := claude.Claim(req)
		require.NoError(t, err)
		claimed, _ := pipeline.NewIdentity(claim)
		expected, _ := pipeline.NewIdentity(want)
		assert.Equal(t, expected, claimed)
		name, _ := req.Call.Name.Value()
		assert.Equal(t, pipeline.ClaimName(name), claim, "name and metadata agree")
		assert.False(t, req.Call.Contradictory)
	}
	for i, o := range c.offers {
		assert.Equal(t, []string{"0", "1", "2"}[i], o.ID.String())
		assert.Equal(t, c.session, o.Request.SessionID)
		assert.True(t, o.Request.Session.Announced)
	}
}

func TestCallsCarryTheToolCallID(t *testing.T) {
	ran, servers := twoServers(t)
	c := start(t, Options{})
	c.open(servers...)
	c.prompt(`plan "Write  the notes" and more`, always(selects("allow-once")))
	want := []toolRun{
		{"kandev", "create_task_kandev", c.offers[0].Request.Call.ID, "Write  the notes and more"},
		{"kandev", "list_tasks_kandev", c.offers[1].Request.Call.ID, ""},
	}
	assert.Equal(t, want, ran.all())
	assert.NotEqual(t, want[0].CallID, want[1].CallID)
}

func TestArgumentsOfAnotherServersTool(t *testing.T) {
	ran, servers := twoServers(t)
	c := start(t, Options{})
	c.open(servers...)
	got := c.prompt("other hello there", always(selects("allow-once")))
	assert.Equal(t, "hello there", ran.all()[0].Text)
	assert.Contains(t, got.said, "ping of other")
}

// A remembered answer is for one tool of one session, until the session is
// loaded with another list of servers.
func TestAllowAlways(t *testing.T) {
	ran, servers := twoServers(t)
	c := start(t, Options{})
	c.open(servers...)
	got := c.prompt("plan plan", always(selects("allow-with-updates")))
	assert.Equal(t, []string{createName, listName}, got.asked)
	assert.Len(t, ran.all(), 4)

	got = c.prompt("other plan", always(selects("reject")))
	assert.Equal(t, []string{pingName}, got.asked, "another tool is asked about")
	assert.Len(t, ran.all(), 6)

	first := c.session
	c.open(servers...)
	got = c.prompt("plan", always(selects("reject")))
	assert.Equal(t, []string{createName, listName}, got.asked, "another session is asked about")

	c.session = first
	id := c.request("session/load", object{"sessionId": first, "cwd": t.TempDir(), "mcpServers": servers})
	for c.next().ID.String() != id {
		continue
	}
	got = c.prompt("plan", always(selects("reject")))
	assert.Equal(t, []string{createName, listName}, got.asked, "a new list of servers is asked about")
	assert.Len(t, ran.all(), 6)
}

// A tool that fails ends its call as failed; the turn goes on.
func TestFailingTools(t *testing.T) {
	fails := func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("out of paper")
	}
	refuses := func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "tools/call" {
				return nil, &jsonrpc.Error{Code: -32000, Message: "closed today"}
			}
			return next(ctx, method, r)
		}
	}
	failing := mcp.NewServer(&mcp.Implementation{Name: "failing"}, nil)
	mcp.AddTool(failing, &mcp.Tool{Name: "print"}, fails)
	refusing := newMCPServer("kandev", func(toolRun) {})
	refusing.AddReceivingMiddleware(refuses)

	c := start(t, Options{ShellCommand: "exit 3"})
	c.open(
		entry("http", "failing", serveMCP(t, "http", failing, nil).URL),
		entry("http", "kandev", serveMCP(t, "http", refusing, nil).URL),
	)
	got := c.prompt("shell other plan", always(selects("allow-once")))
	assert.Equal(t, "end_turn", got.stop)
	assert.Equal(t, []string{"failed", "failed", "failed", "failed"}, got.ends)
	assert.Contains(t, got.said, "Failed: the shell command, print of failing, create_task_kandev of kandev, list_tasks_kandev of kandev.")
	var lines []string
	for _, f := range got.frames {
		lines = append(lines, f.line)
	}
	assert.Equal(t, 1, count(lines, `"rawOutput":"(no output)\n(exit status 3)"`))
	assert.Equal(t, 1, count(lines, `"rawOutput":[{"type":"text","text":"out of paper"}]`))
	assert.Equal(t, 2, count(lines, `"rawOutput":"the server refused the call: closed today"`))
}

func TestWhatCannotBeCalledIsSaid(t *testing.T) {
	ran := &runs{}
	plain := serveMCP(t, "http", newMCPServer("other", ran.add), ran)
	for name, at := range map[string]struct {
		servers []object
		said    []string
	}{
		"no servers":         {nil, []string{`no server "kandev" is connected`, "no other server is connected"}},
		"other tools":        {[]object{entry("http", "kandev", plain.URL)}, []string{"the server does not list it"}},
		"unknown transport":  {[]object{entry("acp", "kandev", plain.URL), entry("acp", "b", plain.URL)}, []string{"its transport is not supported"}},
		"no URL":             {[]object{entry("http", "kandev", "x"), {"name": "b"}}, []string{"its URL is no http", "neither a URL nor a command"}},
		"nobody there":       {[]object{entry("http", "kandev", "http://127.0.0.1:1/mcp"), entry("sse", "b", "http://127.0.0.1:1/sse")}, []string{"cannot be reached"}},
		"no such command":    {[]object{{"name": "kandev", "command": "/nowhere/at/all", "args": []string{}, "env": []object{}}}, []string{"cannot be reached"}},
		"not an MCP address": {[]object{entry("sse", "kandev", plain.URL+"/x")}, []string{"HTTP 4"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, Options{})
			c.open(at.servers...)
			got := c.prompt("plan other", always(selects("allow-once")))
			assert.Empty(t, count(got.asked, "kandev"))
			assert.Equal(t, "end_turn", got.stop)
			for _, said := range at.said {
				assert.Contains(t, got.said, said)
			}
		})
	}
	assert.NotContains(t, ran.tools(), "other/create_task_kandev")
}
