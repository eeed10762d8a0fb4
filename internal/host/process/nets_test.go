package process

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/pipeline"
)

// netStage is a stage with an injected server, an audit file and a log.
type netStage struct {
	*stage
	log   bytes.Buffer
	file  string
	audit *audit.Log
}

func newNetStage(t *testing.T, change ...func(*Options, *Launch)) *netStage {
	t.Helper()
	n := &netStage{file: filepath.Join(t.TempDir(), "audit.jsonl")}
	var err error
	n.audit, err = audit.Open(n.file, audit.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = n.audit.Close(t.Context()) })
	n.stage = newStage(t, "asks by words", append([]func(*Options, *Launch){injected(nil), func(o *Options, _ *Launch) {
		o.Audit = n.audit
		o.Logger = slog.New(slog.NewJSONHandler(&n.log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}}, change...)...)
	return n
}

// seen starts the agent and makes a session that listed the endpoint's tools.
func (n *netStage) seen(t *testing.T) *Session {
	t.Helper()
	session := n.session(t)
	require.Equal(t, http.StatusOK, n.knock(t, session.instance, n.tape.hidden[0]))
	return session
}

// records stops the agent and gives the audit records of some events.
func (n *netStage) records(t *testing.T, i *Instance, events ...audit.Event) (found []audit.Record) {
	t.Helper()
	i.Stop(t.Context())
	require.NoError(t, n.audit.Close(t.Context()))
	require.NoError(t, audit.Read(n.file, func(l audit.Line) error {
		if slices.Contains(events, l.Record.Event) {
			found = append(found, l.Record)
		}
		return l.Err
	}))
	return found
}

// also lets the agent send lines without a prompt of its own.
func (s *stage) also(t *testing.T, i *Instance, lines ...string) {
	t.Helper()
	text, err := json.Marshal(strings.Join(lines, "\n"))
	require.NoError(t, err)
	require.NoError(t, i.conn.out.push(outLine{line: []byte(`{"jsonrpc":"2.0","id":99,"method":"session/prompt","params":{"prompt":[{"text":` + string(text) + `}]}}`)}))
}

// settled lets the agent send lines, and waits until they were handled.
func (s *stage) settled(t *testing.T, i *Instance, lines ...string) {
	t.Helper()
	s.also(t, i, append(lines, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"settled"}}}}`)...)
	for receive(t, s.says) != "settled" {
	}
}

// second makes the session "s2", which listed the endpoint's tools as well.
func (n *netStage) second(t *testing.T, i *Instance) *Session {
	t.Helper()
	session, err := i.NewSession(t.Context(), "/")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, n.knock(t, i, n.tape.hidden[1]))
	return session
}

// once makes sure that one net has fired, with one event, one audit record and one
// log record; none for no reason.
func (n *netStage) once(t *testing.T, i *Instance, reason pipeline.Reason) {
	t.Helper()
	records := n.records(t, i, audit.NetFired)
	if reason == "" {
		assert.Empty(t, records)
		assert.Empty(t, n.fired)
		assert.Empty(t, n.log.String())
		return
	}
	require.Len(t, n.fired, 1)
	got := <-n.fired
	assert.Equal(t, reason, got.Reason)
	require.Len(t, records, 1)
	r := records[0]
	assert.Equal(t, []any{got.Net, got.Reason, got.Session, got.Tool, string(i.ID()), "claude-acp"}, []any{r.Net, r.Reason, r.Session, r.Tool, r.Instance, string(r.Agent)})
	assert.Equal(t, 1, strings.Count(n.log.String(), `"reason":"`+string(reason)+`"`))
	assert.Equal(t, reason == nets.ReasonTripwireFired, strings.Contains(n.log.String(), `"level":"ERROR"`))
	assert.NotContains(t, n.log.String(), got.Session+`"`, "what the agent names a session is in no log")
}

// call reaches the endpoint with a session's secret.
func (s *stage) call(t *testing.T, i *Instance, secret, tool, toolUse string) {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{},"_meta":{"claudecode/toolUseId":%q}}}`, tool, toolUse)
	require.Equal(t, http.StatusOK, s.post(t, i, secret, body))
}

func callUpdate(session, call, status string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"tool_call_update","toolCallId":%q,"status":%q}}}`, session, call, status)
}

const another = "create_task_kandev"

// tripCase is what becomes of an approved call, and of the next offers.
type tripCase struct {
	arrives, tool, id string // which secret is used, and what for; "" for none
	ends              string
	cancel, down      bool
	own, other        string // what the next offer of this and of another session gets
	fired             pipeline.Reason
}

const approvedOnce = "select injected_mcp allow_once"

func TestTheTripwire(t *testing.T) {
	const approved, tripped = approvedOnce, "pend tripwire_fired"
	for name, test := range map[string]tripCase{
		"it arrives":                        {"own", listTool, "c1", "completed", false, false, approved, approved, ""},
		"it arrives and fails":              {"own", listTool, "c1", "failed", false, false, approved, approved, ""},
		"it arrives without an id":          {"own", listTool, "", "completed", false, false, approved, approved, ""},
		"it arrives, and the turn ends":     {"own", listTool, "c1", "turn", false, false, approved, approved, ""},
		"it never arrives":                  {"", "", "", "completed", false, false, tripped, tripped, nets.ReasonTripwireFired},
		"it fails at another server":        {"", "", "", "failed", false, false, tripped, tripped, nets.ReasonTripwireFired},
		"the turn ends without it":          {"", "", "", "turn", false, false, tripped, tripped, nets.ReasonTripwireFired},
		"its end is written with escapes":   {"", "", "", "escaped", false, false, tripped, tripped, nets.ReasonTripwireFired},
		"another tool arrives":              {"own", another, "", "completed", false, false, tripped, tripped, nets.ReasonTripwireFired},
		"another call arrives":              {"own", listTool, "c9", "completed", false, false, tripped, tripped, nets.ReasonTripwireFired},
		"a call with an endless id arrives": {"own", listTool, strings.Repeat("c", 600), "completed", false, false, tripped, tripped, nets.ReasonTripwireFired},
		"it arrives in another session":     {"other", listTool, "c1", "completed", false, false, tripped, tripped, nets.ReasonTripwireFired},
		"the endpoint is down":              {"", "", "", "failed", false, true, "pend injected_server_unreachable", approved, nets.ReasonEndpointUnreachable},
		"the endpoint is down, yet it ran":  {"", "", "", "completed", false, true, tripped, tripped, nets.ReasonTripwireFired},
		"the turn was cancelled before it":  {"", "", "", "turn", true, false, tripped, tripped, nets.ReasonTripwireFired},
		"it fails as the turn is cancelled": {"", "", "", "failed", true, false, tripped, tripped, nets.ReasonTripwireFired},
	} {
		t.Run(name, test.run)
	}
}

func (test tripCase) run(t *testing.T) {
	n := newNetStage(t)
	session := n.seen(t)
	i := session.instance
	turn := n.prompt(t, session, injectedOffer("1", "s1", "c1", listTool))
	n.heard(t, fmt.Sprintf(selectedA, "1"))
	prompt := i.conn.calls.last
	n.second(t, i)
	secrets := map[string]string{"own": n.tape.hidden[0], "other": n.tape.hidden[1]}
	if test.arrives != "" {
		n.call(t, i, secrets[test.arrives], test.tool, test.id)
	}
	if test.down {
		require.NoError(t, i.endpoint.Close())
	}
	if test.cancel {
		require.NoError(t, session.Cancel())
		receive(t, n.says)
	}
	end := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}`, prompt)
	switch test.ends {
	case "turn":
		n.also(t, i, end)
	case "escaped":
		n.also(t, i, strings.Replace(callUpdate("s1", "c1", "completed"), `"completed"`, `"c\u006fmpleted"`, 1))
	default:
		n.also(t, i, callUpdate("s1", "c1", test.ends), end)
	}
	if test.ends != "escaped" { // there the turn goes on
		require.NoError(t, receive(t, turn))
	}
	n.settled(t, i, injectedOffer("2", "s1", "c2", listTool), injectedOffer("3", "s2", "c3", listTool))
	assert.Equal(t, []string{approvedOnce, test.own, test.other}, n.decisions())
	n.once(t, i, test.fired)
}

func TestACallThatAPersonAllowedTripsNothing(t *testing.T) {
	n := newNetStage(t)
	session := n.session(t) // nobody was at the endpoint: a person is asked
	i := session.instance
	n.settled(t, i, injectedOffer("1", "s1", "c1", listTool))
	n.next(t).selects(t, 0)
	n.heard(t, fmt.Sprintf(selectedA, "1"))
	require.Equal(t, http.StatusOK, n.knock(t, i, n.tape.hidden[0]))
	n.settled(t, i, callUpdate("s1", "c1", "completed"), injectedOffer("2", "s1", "c2", listTool))
	assert.Equal(t, []string{"pend injected_server_not_contacted", "select injected_mcp allow_once"}, n.decisions())
	assert.Equal(t, audit.Witness, (<-n.fired).Net)
	assert.Empty(t, n.fired)
}

func TestACallThatAPersonAllowedUsesUpItsArrival(t *testing.T) {
	n := newNetStage(t)
	session := n.session(t)
	i := session.instance
	n.settled(t, i, injectedOffer("1", "s1", "c1", listTool))
	n.next(t).selects(t, 0)
	n.heard(t, fmt.Sprintf(selectedA, "1"))
	require.Equal(t, http.StatusOK, n.knock(t, i, n.tape.hidden[0]))
	n.settled(t, i, injectedOffer("2", "s1", "c2", listTool))
	n.call(t, i, n.tape.hidden[0], listTool, "")
	n.settled(t, i, callUpdate("s1", "c2", "completed"), injectedOffer("3", "s1", "c3", listTool))
	assert.Equal(t, "pend tripwire_fired", n.decisions()[2])
}

func TestBlanketApprovalIsNotWatched(t *testing.T) {
	n := newNetStage(t, func(_ *Options, l *Launch) { l.Config.AutoApprovePermissions = true })
	session := n.seen(t)
	n.turn(t, session, injectedOffer("1", "s1", "c1", listTool)+"\n"+callUpdate("s1", "c1", "completed")+"\nend")
	n.settled(t, session.instance, injectedOffer("2", "s1", "c2", listTool))
	assert.Equal(t, []string{"select blanket_approval allow_once", "select blanket_approval allow_once"}, n.decisions())
	n.once(t, session.instance, "")
}

func TestAnAgentThatEndsTripsNothing(t *testing.T) {
	n := newNetStage(t)
	session := n.seen(t)
	turn := n.prompt(t, session, injectedOffer("1", "s1", "c1", listTool))
	n.heard(t, fmt.Sprintf(selectedA, "1"))
	require.NoError(t, kill(session.instance))
	wait(t, session.instance.Done())
	assert.Error(t, receive(t, turn))
	assert.Empty(t, n.fired)
}

func TestATurnThatIsAnsweredLateEndsNothing(t *testing.T) {
	n := newNetStage(t)
	session := n.seen(t)
	i := session.instance
	_ = n.prompt(t, session, "{}")
	first := i.conn.calls.last
	require.NoError(t, session.Cancel())
	second := n.prompt(t, session, injectedOffer("1", "s1", "c1", listTool)+"\n"+fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"cancelled"}}`, first))
	n.settled(t, i)
	n.call(t, i, n.tape.hidden[0], listTool, "c1")
	n.settled(t, i, callUpdate("s1", "c1", "completed"), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i.conn.calls.last))
	require.NoError(t, receive(t, second))
	n.once(t, i, "")
}
