package proxy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/testlog"
)

// auditing keeps an audit file, which read gives record by record.
func auditing(t *testing.T) (change func(*Options, *wire), read func() []map[string]any) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(path, audit.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close(t.Context()) })
	return func(o *Options, _ *wire) { o.Audit = log }, func() (records []map[string]any) {
		require.NoError(t, log.Flush(t.Context(), audit.Stats{}))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			var r map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &r))
			for _, changing := range []string{"time", "run", "waited_ms", "instance", "server"} {
				delete(r, changing)
			}
			records = append(records, r)
		}
		return records
	}
}

type members = map[string]any

// Each decision and each answer is a record: what, why, and who answered.
func TestTheAuditFile(t *testing.T) {
	tg := serveTarget(t, "run")
	change, read := auditing(t)
	w := newWire(t, agentID("claude-acp"), injectingTarget("kandev", tg), change)
	listTools(t, w.open("s")[0])
	w.answers(offerLine("10", "s", "mcp__kandev__run"), selectedLine("10", "once"))
	w.asks(offerLine("11", "s", "mcp__docs__run"))
	w.clientSays(selectedLine("11", "always"))
	w.asks(offerLine("12", "s", "Bash"))
	w.clientSays(cancelledLine("12"))
	w.asks(offerLine("13", "s", "Bash"))
	w.clientSays(cancelOf("s"))
	w.asks(offerLine("14", "s", "Bash"))
	w.clientSays(selectedLine("14", "never offered"))
	w.asks(offerLine("15", "s", "mcp__kandev__missing"))
	w.agentSays(endOf("s", "call-10"))

	decision := func(request, verdict, stage, reason string) members {
		return members{"event": "decision", "agent": "claude-acp", "session": "s", "request_id": request, "kind": "other", "verdict": verdict, "stage": stage, "reason": reason}
	}
	answer := func(request, verdict, reason string, more members) members {
		m := members{"event": "answer", "agent": "claude-acp", "session": "s", "request_id": request, "kind": "other", "verdict": verdict, "reason": reason, "by": "client", "surface": "acp"}
		for k, v := range more {
			if m[k] = v; v == nil {
				delete(m, k)
			}
		}
		return m
	}
	with := func(m members, key string, value any) members { m[key] = value; return m }
	got := read()
	for n, want := range []members{
		with(with(decision("1", "select", "option", "injected_mcp"), "option_kind", "allow_once"), "tool", "run"),
		with(decision("2", "pend", "pending", "server_is_not_the_hosts"), "tool", "run"),
		answer("2", "select", "person_selected", members{"option_kind": "allow_always", "tool": "run"}),
		decision("3", "pend", "pending", "name_without_mcp_prefix"),
		answer("3", "cancel", "person_cancelled", nil),
		decision("4", "pend", "pending", "name_without_mcp_prefix"),
		answer("4", "cancel", "session_cancelled", members{"by": nil, "surface": nil}),
		decision("5", "pend", "pending", "name_without_mcp_prefix"),
		answer("5", "select", "person_selected", nil),
		with(decision("6", "pend", "pending", "tool_not_offered"), "tool", "missing"),
		{"event": "net", "net": "witness", "agent": "claude-acp", "session": "s", "request_id": "6", "reason": "tool_not_offered", "tool": "missing"},
		{"event": "net", "net": "tripwire", "agent": "claude-acp", "session": "s", "request_id": "1", "reason": "tripwire_fired", "tool": "run"},
	} {
		if assert.Greater(t, len(got), n) {
			assert.Equal(t, want, got[n], n)
		}
	}
	assert.Len(t, got, 12)
}

// A call that arrives although nobody was asked is a record, whichever session it is of.
func TestUnaskedCallsAreReported(t *testing.T) {
	change, read := auditing(t)
	log := &testlog.Buffer{}
	w := newWire(t, injectingTarget("kandev", serveTarget(t, "run")), injectingTarget("other", serveTarget(t, "go")), change, logging(log))
	list := w.open("s")
	for n, tool := range []string{"run", "go"} {
		_, err := connect(t, list[n]).CallTool(t.Context(), callOf(tool, "call-9"))
		require.NoError(t, err)
	}
	unasked := map[any]int{}
	for _, r := range read() {
		if r["event"] == "unasked" {
			unasked[r["tool"]]++
		}
	}
	assert.Equal(t, map[any]int{"run": 1, "go": 1}, unasked)
	assert.Equal(t, 2, log.Count("nobody had been asked"))

	w.asks(offerLine("1", "s", "mcp__kandev__missing"))
	w.clientSays(selectedLine("1", "once"))
	_, err := connect(t, list[0]).CallTool(t.Context(), callOf("missing", "call-1"))
	require.Error(t, err)
	assert.Equal(t, 2, log.Count("nobody had been asked"), "a call that a person allowed is not one of them")
}

// Nothing that an agent or client says stands in what we report: titles, labels,
// arguments, metadata, headers, paths and ids of theirs.
func TestReportsHoldNoWordsOfOthers(t *testing.T) {
	const canary = "c4nary"
	change, read := auditing(t)
	log := &testlog.Buffer{}
	w := newWire(t, agentID("claude-acp"), injectingTarget("kandev", serveTarget(t, "run")), change, logging(log), explaining)
	got := w.clientSays(requestLine("1", "session/new", `{"cwd":"/`+canary+`","mcpServers":[{"name":"x","type":"http","url":"http://`+canary+`/","headers":[{"name":"X","value":"`+canary+`"}]}],"_meta":{"a":"`+canary+`"}}`))
	secret := strings.TrimPrefix(named(serversOf(t, got), "kandev")[0].secret(), "Bearer ")
	w.agentSays(resultLine("1", `{"sessionId":"s"}`))
	offer := `{"jsonrpc":"2.0","id":"` + canary + `","method":"session/request_permission","params":{"sessionId":"s","_meta":{"x":"` + canary + `"},"toolCall":{"toolCallId":"` + canary + `","name":"not a name ` + canary +
		`","title":"` + canary + `","kind":"` + canary + `","rawInput":{"a":"` + canary + `"},"_meta":{"claudeCode":{"toolName":"` + canary + `"}}},"options":[{"optionId":"` + canary + `","name":"` + canary + `","kind":"` + canary + `"}]}}` + "\n"
	w.asks(offer)
	w.clientSays(selectedLine(`"`+canary+`"`, canary))
	w.asks(strings.Replace(offer, `"title"`, `"kind"`, 1)) // unreadable
	w.clientSays(selectedLine(`"`+canary+`"`, canary))
	w.clientSays(selectedLine(`"`+canary+`"`, canary)) // late
	w.clientSays(canary + "\n")
	w.clientSays(requestLine(`"`+canary+`"`, "session/new", `{"mcpServers":{"`+canary+`":1}}`))
	w.agentSays(`[{"` + canary + `":1}]` + "\n")
	w.clientSays(`[{"` + canary + `":1}]` + "\n")
	said := w.stderr.read()
	records, err := json.Marshal(read())
	require.NoError(t, err)
	for what, text := range map[string]string{"log": log.String(), "stderr": said, "audit": string(records)} {
		assert.NotContains(t, text, canary, what)
		assert.NotContains(t, text, secret, what)
		assert.NotEmpty(t, text, what)
	}
}

// An offer that is too large to keep is answered all the same.
func TestAnOfferTooLargeToKeep(t *testing.T) {
	change, read := auditing(t)
	w := newWire(t, change)
	large := strings.Replace(offerLine("1", "s", "Bash"), `"name":"Yes"`, `"name":"`+strings.Repeat("y", maxAsked)+`"`, 1)
	w.asks(large)
	assert.Equal(t, selectedLine("1", "once"), w.clientSays(selectedLine("1", "once")))
	w.asks(offerLine("2", "s", "Bash"))
	assert.Equal(t, selectedLine("2", "once"), w.clientSays(selectedLine("2", "once")))
	got := read()
	require.Len(t, got, 4)
	assert.Nil(t, got[1]["option_kind"], "nothing is known of its options")
	assert.Equal(t, "allow_once", got[3]["option_kind"])
}

// --explain has one line per offer, with every stage that ran.
func TestExplanations(t *testing.T) {
	w := newWire(t, explaining)
	w.asks(offerLine("1", "s", "mcp__docs__get"))
	line := w.stderr.read()
	assert.Equal(t, 1, strings.Count(line, "\n"))
	assert.True(t, strings.HasPrefix(line, "assent: proxy: offer 1: asked, tool get of docs, stage pending, reason "), line)
	for _, stage := range []string{"blanket continue", "identity continue", "dialect continue", "provenance continue", "witness continue", "option continue", "pending pend"} {
		assert.Contains(t, line, stage)
	}
	blanket := newWire(t, approving, explaining)
	blanket.answers(strings.Replace(offerLine("1", "s", ""), threeOptions, `[{"optionId":"no","name":"No","kind":"reject_once"}]`, 1), selectedLine("1", "no"))
	assert.Contains(t, blanket.stderr.read(), "offer 1: answered with reject_once, stage blanket, reason ")
	blanket.answers(strings.Replace(offerLine("2", "s", ""), threeOptions, `[{"optionId":"no","name":"No","kind":"5ecret"}]`, 1), selectedLine("2", "no"))
	assert.NotContains(t, blanket.stderr.read(), "5ecret")
}
