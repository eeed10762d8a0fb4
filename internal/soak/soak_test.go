package soak

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kandev/assent/internal/demoagent"
	"github.com/kandev/assent/internal/host/process"
)

// agentVariable makes the test binary the demo agent.
const agentVariable = "SOAK_TEST_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(agentVariable) != "" {
		os.Exit(demoagent.Main())
	}
	goleak.VerifyTestMain(m)
}

func options(report *strings.Builder, d time.Duration) Options {
	return Options{
		Agent: process.Command{Path: os.Args[0], Env: append(os.Environ(), agentVariable+"=1", "GORACE=atexit_sleep_ms=0")},
		For:   d, Agents: 2, Seed: 7, Report: report,
	}
}

// The real run is made by `make soak`; this one is to see that it works.
func TestAShortRun(t *testing.T) {
	var report strings.Builder
	good, err := Run(t.Context(), options(&report, 3*time.Second))
	require.NoError(t, err)
	assert.True(t, good, report.String())
	for _, what := range []string{"soak: ", "offers ", "turns that ended ", "agents killed ", "heap after collection, MiB "} {
		assert.Contains(t, "\n"+report.String(), "\n"+what)
	}
	assert.NotContains(t, report.String(), "VIOLATION")
}

func TestAnAgentThatCannotBeStartedFailsTheRun(t *testing.T) {
	var report strings.Builder
	o := options(&report, 50*time.Millisecond)
	o.Agent = process.Command{Path: "no-such-agent"}
	good, err := Run(t.Context(), o)
	require.NoError(t, err)
	assert.False(t, good)
	assert.Contains(t, report.String(), "VIOLATION  an agent did not start")
}

func TestAnInterruptedRunSaysSo(t *testing.T) {
	var report strings.Builder
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	good, err := Run(ctx, options(&report, time.Minute))
	assert.True(t, good)
	assert.ErrorIs(t, err, context.Canceled)
}
