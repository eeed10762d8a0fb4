package audit_test

import (
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
	"github.com/kandev/assent/stages"
)

const secret = "hunter2-S3CRET"

// offerLine asks for a tool of the injected server, with a secret wherever an
// agent can put one.
const offerLine = `{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","_meta":{"x":"` + secret + `"},` +
	`"toolCall":{"toolCallId":"call-` + secret + `","name":"mcp__kandev__list_tasks","title":"curl -u ` + secret + `","kind":"other",` +
	`"rawInput":{"token":"` + secret + `"},"_meta":{"y":"` + secret + `"}},"options":[` +
	`{"optionId":"` + secret + `","name":"Allow ` + secret + `","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}`

// decide sends an offer through the real pipeline.
func decide(t *testing.T, line string) (*acp.Offer, pipeline.Result) {
	t.Helper()
	set, err := dialects.Index(dialects.All())
	require.NoError(t, err)
	factory, err := stages.NewPipelineFactory(stages.DefaultOrder(), stages.Builtin(set))
	require.NoError(t, err)
	p, err := factory(pipeline.Instance{Agent: "claude-acp", Injected: true, Port: 41001})
	require.NoError(t, err)
	list := pipeline.ServerList{Servers: []pipeline.Server{{Name: "kandev", Type: "http", URL: "http://localhost:41001/mcp"}}}
	m, err := acp.NewDecoder(acp.Options{EverySession: &list}).FromAgent([]byte(line))
	require.NoError(t, err)
	return m.Offer, m.Offer.Decide(t.Context(), p)
}

// auditOf writes the record of a decision to a real file and gives the file's text.
func auditOf(t *testing.T, line, kind string) (text, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "audit.jsonl")
	var logged strings.Builder
	log, err := audit.Open(path, audit.Options{Logger: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	require.NoError(t, err)
	offer, result := decide(t, line)
	log.Append(audit.DecisionRecord(audit.Origin{Instance: "1", Agent: "claude-acp", Session: offer.Request.SessionID, Request: "1"}, result, kind))
	require.NoError(t, log.Close(t.Context()))
	bytes, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, logged.String(), secret)
	return string(bytes), path
}

// The secret is in no audit record, on the automatic path and off it, with a tool
// name that does not parse, and with an offer that cannot be read.
func TestL50_NoSecretInTheAudit(t *testing.T) {
	for name, line := range map[string]string{
		"approved":   offerLine,
		"asked":      strings.ReplaceAll(offerLine, `"mcp__kandev__list_tasks"`, `"Bash"`),
		"bad name":   strings.ReplaceAll(offerLine, `mcp__kandev__list_tasks`, `mcp__kandev__`+secret+`__x`),
		"no string":  strings.ReplaceAll(offerLine, `"mcp__kandev__list_tasks"`, `{"x":"`+secret+`"}`),
		"unreadable": strings.ReplaceAll(offerLine, `"kind":"other"`, `"kind":"other","kind":"`+secret+`"`),
		"own kind":   strings.ReplaceAll(offerLine, `"kind":"allow_once"`, `"kind":"`+secret+`"`),
	} {
		text, _ := auditOf(t, line, secret)
		assert.NotContains(t, text, secret, name)
		assert.NotContains(t, text, "curl", name)
	}
}

func TestL53_OneRecordOfAnAutomaticApproval(t *testing.T) {
	text, _ := auditOf(t, offerLine, pipeline.AllowOnce)
	require.Equal(t, 1, strings.Count(text, "\n"))
	var line map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &line))
	assert.Equal(t, []string{"agent", "event", "instance", "option_kind", "reason", "request_id", "run", "server", "session", "stage", "time", "tool", "verdict"},
		slices.Sorted(maps.Keys(line)))
	for member, want := range map[string]any{
		"event": "decision", "verdict": "select", "stage": "option", "reason": "injected_mcp", "tool": "list_tasks", "server": "kandev",
		"option_kind": "allow_once", "session": "s", "request_id": "1",
	} {
		assert.Equal(t, want, line[member], member)
	}
}
