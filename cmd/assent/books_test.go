package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/console"
	"github.com/kandev/assent/internal/host/audit"
)

func TestAnAuditOfARun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	code, _, stderr := runIt(t, "run", "--demo", "--on-pending", "reject", "--audit", file)
	require.Zero(t, code)
	assert.Empty(t, stderr)
	var got []string
	var ids []string
	require.NoError(t, audit.Read(file, func(l audit.Line) error {
		r := l.Record
		got = append(got, string(r.Event)+" "+r.Verdict.String()+" "+string(r.Reason)+" "+r.OptionKind+" "+r.Surface)
		ids = append(ids, r.Request)
		return l.Err
	}))
	assert.Equal(t, []string{
		"decision select injected_mcp allow_once ",
		"decision pend server_is_not_the_hosts  ", "answer select person_denied reject_once on-pending",
		"decision pend name_without_mcp_prefix  ", "answer select person_denied reject_once on-pending",
	}, got)
	require.Len(t, ids, 5)
	assert.Equal(t, []string{ids[1], ids[3]}, []string{ids[2], ids[4]}, "an answer has the id of its offer")
	assert.Len(t, map[string]bool{ids[0]: true, ids[1]: true, ids[3]: true}, 3)
	if runtime.GOOS != "windows" {
		info, err := os.Stat(file)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
}

func TestAnAuditThatCannotBeWritten(t *testing.T) {
	code, stdout, stderr := runIt(t, "run", "--demo", "--audit", t.TempDir())
	assert.Equal(t, console.ExitUsage, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "assent: run: --audit: ")
}

func TestTelemetryByTheEnvironment(t *testing.T) {
	var posted atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/metrics" || r.URL.Path == "/v1/traces" {
			posted.Add(1)
		}
	}))
	defer receiver.Close()
	for variable, want := range map[string]int{
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + receiver.URL: console.ExitGood,
		"OTEL_SDK_DISABLED=true":                      console.ExitGood,
		"OTEL_EXPORTER_OTLP_ENDPOINT=:no:url":         console.ExitUsage,
	} {
		p := command(t, "run", "--demo", "--prompt", "plan", "--on-pending", "cancel")
		p.cmd.Env = append(p.cmd.Env, variable)
		assert.Equal(t, want, p.start().wait(), variable)
		if want == console.ExitUsage {
			assert.Contains(t, p.stderr.String(), "OTEL_EXPORTER_OTLP_ENDPOINT")
			assert.NotContains(t, p.stderr.String(), ":no:url")
		}
	}
	assert.Positive(t, posted.Load(), "metrics and traces were sent")
}
