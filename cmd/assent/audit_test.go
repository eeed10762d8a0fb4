package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/console"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/pipeline"
)

// auditFile writes an audit file: yesterday's approval, today's question and its
// answer, and a net.
func auditFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(path, audit.Options{})
	require.NoError(t, err)
	tool, _ := pipeline.NewIdentity(pipeline.ClaimTool("kandev", "list_tasks"))
	log.Append(audit.Record{
		Time: time.Now().Add(-24 * time.Hour), Event: audit.Decision, Instance: "1", Agent: "claude-acp", Session: "s,1", Request: "1",
		Verdict: pipeline.Select, Stage: "option", Reason: "injected_mcp", OptionKind: pipeline.AllowOnce, Tool: tool,
	})
	log.Append(audit.Record{Event: audit.Decision, Instance: "2", Agent: "codex-acp", Task: "task-2", Session: "s\u202e2", Request: "2", Stage: "pending", Reason: "name_absent", Kind: "execute"})
	log.Append(audit.Record{
		Event: audit.Answer, Instance: "2", Agent: "codex-acp", Session: "s\u202e2", Request: "2", Verdict: pipeline.Cancel,
		Reason: "person_denied", By: "anna", Surface: "terminal", Waited: 83 * time.Second,
	})
	log.Append(audit.Record{Event: audit.NetFired, Instance: "1", Net: audit.Tripwire})
	require.NoError(t, log.Close(t.Context()))
	return path
}

// runOf is the run that wrote an audit file.
func runOf(t *testing.T, path string) (run string) {
	t.Helper()
	require.NoError(t, audit.Read(path, func(l audit.Line) error { run = l.Record.Run; return l.Err }))
	return run
}

func TestAuditTable(t *testing.T) {
	code, out, errs := runIt(t, "audit", auditFile(t))
	require.Equal(t, console.ExitGood, code, errs)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 5)
	for i, want := range []string{
		`^time +event +verdict +why +call +option +by +waited +instance +request +task +session$`,
		`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z +decision +select +option/injected_mcp +kandev/list_tasks +allow_once +1 +1 +s,1$`,
		`decision +pend +pending/name_absent +\(execute\) +2 +2 +task-2 +s\\u202e2$`,
		`answer +cancel +person_denied +anna via terminal +1m23s +2 +2 +s\\u202e2$`,
		`net +tripwire +1$`,
	} {
		assert.Regexp(t, want, lines[i])
	}
	assert.Empty(t, errs)
}

// A data folder stands for the audit in it.
func TestAuditOfADataFolder(t *testing.T) {
	path := auditFile(t)
	_, want, _ := runIt(t, "audit", path)
	code, out, errs := runIt(t, "audit", filepath.Dir(path))
	assert.Equal(t, console.ExitGood, code, errs)
	assert.Equal(t, want, out)
	code, _, errs = runIt(t, "audit", t.TempDir())
	assert.Equal(t, console.ExitUsage, code)
	assert.Contains(t, errs, "audit.jsonl")
}

// Where nothing is shown it is said; where something is, it is not.
func TestAuditThatShowsNothing(t *testing.T) {
	path := auditFile(t)
	for _, args := range [][]string{{"--agent", "nope"}, {"--json", "--agent", "nope"}} {
		code, out, errs := runIt(t, append([]string{"audit", path}, args...)...)
		assert.Equal(t, console.ExitGood, code)
		assert.Empty(t, out)
		assert.Equal(t, "assent: audit: no record of 4 matches\n", errs)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	_, _, errs := runIt(t, "audit", empty)
	assert.Equal(t, "assent: audit: there is no record\n", errs)
	_, _, errs = runIt(t, "audit", path, "--agent", "codex-acp")
	assert.Empty(t, errs)
}

func TestAuditJSONIsTheFile(t *testing.T) {
	path := auditFile(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	code, out, errs := runIt(t, "audit", "--json", path)
	require.Equal(t, console.ExitGood, code, errs)
	assert.Equal(t, string(text), out)
}

func TestAuditFilters(t *testing.T) {
	path := auditFile(t)
	for args, want := range map[string]int{
		"":                                  4,
		"--since 1h":                        3,
		"--since 2d --until 1h":             1,
		"--since 2001-01-01":                4,
		"--until 2001-01-01T10:00":          0,
		"--until 2001-01-01T10:00:00+02:00": 0,
		"--verdict select,cancel":           2,
		"--event net":                       1,
		"--reason name_absent":              1,
		"--stage option":                    1,
		"--server kandev":                   1,
		"--server other":                    0,
		"--tool list_tasks":                 1,
		"--agent codex-acp":                 2,
		"--instance 1":                      2,
		"--request 2":                       2,
		"--task task-2":                     1,
		"--task task-1,task-3":              0,
		"--request 3":                       0,
		"--run another":                     0,
		"--run " + runOf(t, path):           4,
		"--session s,1":                     1,
		"--instance 2 --verdict pend":       1,
	} {
		code, out, errs := runIt(t, append(append([]string{"audit", "--json"}, strings.Fields(args)...), path)...)
		assert.Equal(t, console.ExitGood, code, "%s: %s", args, errs)
		assert.Equal(t, want, strings.Count(out, "\n"), args)
	}
}

func TestAuditFollowsRotation(t *testing.T) {
	path := auditFile(t)
	require.NoError(t, os.Rename(path, path+".000001"))
	_, out, _ := runIt(t, "audit", "--json", path)
	assert.Equal(t, 4, strings.Count(out, "\n"))
}

func TestAuditCutLine(t *testing.T) {
	path := auditFile(t)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"time":"2026-`)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	code, out, errs := runIt(t, "audit", path)
	assert.Equal(t, console.ExitGood, code)
	assert.Equal(t, 5, strings.Count(out, "\n"))
	assert.Equal(t, "assent: audit: "+path+":5: the line is cut, its writer was stopped there or the disk was full; it is left out\n", errs)
}

func TestAuditErrors(t *testing.T) {
	path := auditFile(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append([]byte("a\n\x1b[31m\n"), text...), 0o600))
	code, out, errs := runIt(t, "audit", path)
	assert.Equal(t, console.ExitUsage, code)
	assert.Equal(t, 5, strings.Count(out, "\n"), "the rest is shown")
	assert.Equal(t, "assent: audit: "+path+":1: no record: not well-formed JSON, or a member of another type, and so for 1 more (all other lines were read)\n", errs)

	code, _, errs = runIt(t, "audit", "nothing.jsonl")
	assert.Equal(t, console.ExitUsage, code)
	assert.Equal(t, "assent: audit: nothing.jsonl: no such file or directory\n", errs)
	for _, args := range [][]string{
		{"--since", "yesterday", path}, {"--since", "-5m", path}, {"--verdict", "continue", path}, {"--event", "x", path}, {},
	} {
		code, _, errs := runIt(t, append([]string{"audit"}, args...)...)
		assert.Equal(t, console.ExitUsage, code, args)
		assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
		assert.True(t, strings.HasPrefix(errs, "assent: audit: "), errs)
	}
}
