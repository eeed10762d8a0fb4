//go:build unix

package proxy

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/demoagent"
	"github.com/kandev/assent/internal/need"
	"github.com/kandev/assent/pipeline/acp"
)

func init() { roles["demo agent"] = func() { os.Exit(demoagent.Main()) } }

// Nobody calls the endpoint without the secret of a session that lives, whatever the
// path, host or spelling; nothing of it reaches the target.
func TestAStrangerIsTurnedAway(t *testing.T) {
	tg := serveTarget(t, "run")
	w := newWire(t, injectingTarget("kandev", tg))
	e := w.open("s")[0]
	secret := strings.TrimPrefix(e.secret(), "Bearer ")
	other := newWire(t, injectingTarget("kandev", tg)).open("s")[0]
	for name, authorization := range map[string]string{
		"none": "", "empty": "Bearer ", "wrong": "Bearer x", "no scheme": secret, "another scheme": "Basic " + secret, "cut": "Bearer " + secret[1:],
		"more": "Bearer " + secret + "x", "of another proxy": other.secret(), "redacted": "Bearer redacted",
	} {
		for _, host := range []string{"localhost", "127.0.0.1"} {
			for _, path := range []string{"/mcp", "/sse"} {
				url := strings.Replace(strings.Replace(e.URL, "localhost", host, 1), "/mcp", path, 1)
				assert.Equal(t, 401, statusOf(t, url, authorization), name)
			}
		}
	}
	assert.Empty(t, tg.hits.String(), "the target was never asked")
	assert.Equal(t, []string{"run"}, listTools(t, e))
	assert.NotEmpty(t, tg.hits.String())
}

// Nobody else listens on a loopback address of the endpoint's port while it lives: it
// holds both.
func TestNobodyElseListensOnThePort(t *testing.T) {
	probe, err := net.Listen("tcp6", "[::1]:0")
	need.Of(t, "an IPv6 loopback", err)
	require.NoError(t, probe.Close())
	w := newWire(t, injecting("kandev"))
	port := strconv.Itoa(w.relay.gate.injections[0].config.Port)
	for _, address := range []string{"[::1]:" + port, "127.0.0.1:" + port} {
		l, err := net.Listen("tcp", address)
		if err == nil {
			_ = l.Close()
		}
		assert.Error(t, err, address)
	}
	assert.Equal(t, 2, listening(w.relay.gate.injections[0].config.Port))
	require.NoError(t, w.relay.gate.close())
	for _, address := range []string{"[::1]:" + port, "127.0.0.1:" + port} {
		l, err := net.Listen("tcp", address)
		require.NoError(t, err, address)
		require.NoError(t, l.Close())
	}
}

// A session whose list of servers is ambiguous is asked about, also when it has a
// secret from before.
func TestServersGivenTwice(t *testing.T) {
	tg := serveTarget(t, "run")
	w := newWire(t, injectingTarget("kandev", tg))
	listTools(t, w.open("s")[0])
	w.answers(offerLine("1", "s", "mcp__kandev__run"), selectedLine("1", "once"))
	for _, line := range []string{
		requestLine("7", "session/load", `{"sessionId":"s","mcpServers":[],"mcpServers":[{"name":"kandev","type":"http","url":"http://evil/"}]}`),
		requestLine("8", "session/load", `{"sessionId":"s","mcpServers":[],"mcp\u0053ervers":[]}`),
	} {
		assert.Equal(t, line, w.clientSays(line))
		w.agentSays(resultLine(idOf(t, line), "{}"))
		w.asks(offerLine("2", "s", "mcp__kandev__run"))
		w.clientSays(cancelledLine("2"))
	}
	listTools(t, w.open("t")[0])
	w.answers(offerLine("3", "t", "mcp__kandev__run"), selectedLine("3", "once"))
}

// Tools that answer permissions are never approved, whatever server offers them; the
// other tools of that server are.
func TestToolsThatAnswerPermissionsAreAskedAbout(t *testing.T) {
	never := []string{"list_pending_agent_permissions_kandev", "resolve_agent_permission_kandev"}
	w := newWire(t, injectingTarget("kandev", serveTarget(t, append(never, "list_tasks_kandev")...)), injectingTarget("mine", serveTarget(t, append(never, "run")...)), explaining)
	for _, e := range w.open("s") {
		require.Len(t, listTools(t, e), 3)
	}
	for n, tool := range never {
		for m, server := range []string{"kandev", "mine"} {
			id := strconv.Itoa(10*n + m)
			w.asks(offerLine(id, "s", "mcp__"+server+"__"+tool))
			assert.Contains(t, w.stderr.read(), "reason tool_never_automatic")
			assert.Equal(t, selectedLine(id, "once"), w.clientSays(selectedLine(id, "once")), "a person may allow it")
		}
	}
	w.answers(offerLine("100", "s", "mcp__kandev__list_tasks_kandev"), selectedLine("100", "once"))
	w.answers(offerLine("101", "s", "mcp__mine__run"), selectedLine("101", "once"))
}

// editor is a client in front of a proxy with a demo agent behind it.
type editor struct {
	*running
	last     int
	asked    []string // names of the tools of offers that came here
	statuses []string // how calls ended
}

// startEditor plays an act with a target that is really there.
func startEditor(t *testing.T, act demoagent.Act, tg *target) *editor {
	r := start(t, "demo agent", nil, func(o *Options) {
		o.Agent, o.Explain = "claude-acp", true
		o.Command.Env = append(o.Command.Env, demoagent.ActVariable+"="+string(act))
		o.Inject = []Injection{{Name: "kandev", Target: tg.Target}}
		o.Close, o.Term = patience, patience
	})
	e := &editor{running: r}
	e.request("initialize", `{"protocolVersion":1}`)
	return e
}

// message is what an editor reads of a line.
type message struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Result struct {
		SessionID string `json:"sessionId"`
	} `json:"result"`
	Params struct {
		Update struct {
			Status string `json:"status"`
		} `json:"update"`
		ToolCall struct {
			Name string `json:"name"`
		} `json:"toolCall"`
	} `json:"params"`
}

// request sends a request and handles what comes until its answer: offers are allowed.
func (e *editor) request(method, params string) message {
	e.t.Helper()
	e.last++
	id := strconv.Itoa(e.last)
	e.says(requestLine(id, method, params))
	for {
		var m message
		line := e.line()
		require.NoError(e.t, json.Unmarshal([]byte(line), &m), line)
		switch {
		case m.Method == acp.MethodRequestPermission:
			e.asked = append(e.asked, m.Params.ToolCall.Name)
			e.says(selectedLine(string(m.ID), "allow-once"))
		case m.Method == acp.MethodUpdate:
			if s := m.Params.Update.Status; s == "completed" || s == "failed" {
				e.statuses = append(e.statuses, s)
			}
		case m.Method == "" && string(m.ID) == id:
			return m
		}
	}
}

// open makes a session.
func (e *editor) open() string {
	e.t.Helper()
	return e.request("session/new", `{"cwd":`+strconv.Quote(e.t.TempDir())+`,"mcpServers":[]}`).Result.SessionID
}

// prompt plays a turn and gives the tools that were asked about in it.
func (e *editor) prompt(session, text string) []string {
	e.t.Helper()
	before := len(e.asked)
	e.request("session/prompt", `{"sessionId":"`+session+`","prompt":[{"type":"text","text":"`+text+`"}]}`)
	return e.asked[before:]
}

// end is the end of the client.
func (e *editor) end() {
	e.t.Helper()
	require.NoError(e.t, e.in.Close())
	assert.Zero(e.t, e.wait())
}

// What an agent claims is approved only where the calls really arrive in the session
// that made them. Each act asks with the very frames of an honest agent.
func TestActsOfDishonestAgents(t *testing.T) {
	const tool = "mcp__kandev__list_tasks_kandev"
	for act, c := range map[demoagent.Act]struct {
		asked   int // of three calls in the last session
		calls   int // that arrived at the target, of five
		says    string
		trips   int
		opening int // calls of the first session that were asked about
	}{
		demoagent.Honest:         {asked: 0, calls: 5},
		demoagent.Dropped:        {asked: 3, calls: 0, says: "injected_server_not_contacted", opening: 2},
		demoagent.NeverArrives:   {asked: 3, calls: 0, says: "tripwire_fired", trips: 1, opening: 1},
		demoagent.FailsElsewhere: {asked: 3, calls: 0, says: "tripwire_fired", trips: 1, opening: 1},
		demoagent.Borrows:        {asked: 3, calls: 5, says: "injected_server_not_contacted"},
	} {
		t.Run("act "+string(act), func(t *testing.T) {
			tg := serveTarget(t, "list_tasks_kandev", "create_task_kandev")
			e := startEditor(t, act, tg)
			first, second := e.open(), e.open()
			assert.Len(t, e.prompt(first, "list-tasks list-tasks"), c.opening)
			asked := e.prompt(second, "list-tasks list-tasks list-tasks")
			assert.Len(t, asked, c.asked)
			for _, name := range asked {
				assert.Equal(t, tool, name)
			}
			assert.Len(t, e.statuses, 5)
			e.end()
			assert.Equal(t, c.calls, tg.calls.Count("list_tasks_kandev\n"))
			said := e.stderr.String()
			assert.Contains(t, said, c.says)
			assert.Equal(t, c.trips, strings.Count(said, "an approved call never arrived"))
			assert.Equal(t, 5-c.asked-c.opening, strings.Count(said, ": approved with allow_once"))
		})
	}
}

// The shell and other servers of an honest agent are asked about all the same.
func TestAnHonestAgentIsAskedAboutTheRest(t *testing.T) {
	tg := serveTarget(t, "list_tasks_kandev", "create_task_kandev")
	e := startEditor(t, demoagent.Honest, tg)
	session := e.open()
	assert.Equal(t, []string{"Bash"}, e.prompt(session, "plan shell"))
	assert.Equal(t, 1, tg.calls.Count("create_task_kandev\n"))
	e.end()
}
