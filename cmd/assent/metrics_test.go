package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/console"
)

// A run can be scraped while it lasts.
func TestMetricsOfARun(t *testing.T) {
	// Prompts are read from stdin, so it goes on until that ends.
	p := command(t, "run", "--agent", "claude-acp", "--on-pending", "reject", "--metrics", "127.0.0.1:0", "--", os.Args[0], demoAgentWord)
	in, err := p.cmd.StdinPipe()
	require.NoError(t, err)
	p.start()
	_, err = io.WriteString(in, "list-tasks shell\n")
	require.NoError(t, err)
	p.stdout.until(t, "turn      over")
	found := regexp.MustCompile(`metrics are at (http://[0-9.:]+/metrics)`).FindStringSubmatch(p.stderr.String())
	require.NotEmpty(t, found, p.stderr.String())
	answer, err := http.Get(found[1])
	require.NoError(t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	http.DefaultClient.CloseIdleConnections()
	for _, line := range []string{
		`assent_decisions_total{agent="claude-acp",reason="injected_mcp",stage="option",verdict="select"} 1`,
		`assent_decisions_total{agent="claude-acp",reason="name_without_mcp_prefix",stage="pending",verdict="pend"} 1`,
		`assent_offers_open{agent="claude-acp"} 0`,
	} {
		assert.Contains(t, string(text), line+"\n")
	}
	require.NoError(t, in.Close())
	assert.Zero(t, p.wait())
	_, err = http.Get(found[1])
	assert.Error(t, err, "nothing is served any more")
}

func TestMetricsThatCannotBeServed(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for address, want := range map[string]string{
		"0.0.0.0:9464":        "--metrics: metrics are served on a loopback address only",
		"9464":                "--metrics: address 9464: missing port in address: use one like 127.0.0.1:9464",
		taken.Addr().String(): "--metrics: metrics cannot be served",
	} {
		code, stdout, stderr := runIt(t, "run", "--demo", "--metrics", address)
		assert.Equal(t, console.ExitUsage, code, address)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, "assent: run: "+want)
	}
}
