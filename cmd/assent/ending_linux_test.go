package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/console"
)

// The kernel kills the agent, and it alone, when the program cannot do it.
func TestTheAgentDiesWithAProgramThatIsKilled(t *testing.T) {
	path, wait := lifeline(t)
	p := command(t, append(append([]string{"run", "--agent", "claude-acp", "--prompt", "go"}, agent(t, "family")...), path, "alone")...).start()
	wait("asked")
	require.NoError(t, p.cmd.Process.Kill())
	p.wait()
	wait("")
}

func TestOutputThatDoesNotFitIsAFailure(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer func() { _ = full.Close() }()
	p := command(t, "run", "--demo", "--on-pending", "reject")
	p.cmd.Stdout = full
	assert.Equal(t, console.ExitFailed, p.start().wait())
	assert.Equal(t, "assent: run: the output cannot be written: no space left on device\n", p.stderr.String())
}
