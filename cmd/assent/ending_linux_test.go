package main

import (
	"os"
	"strings"
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
	for _, args := range everyOutput(t) {
		p := command(t, args...)
		p.cmd.Stdout = full
		assert.Equal(t, console.ExitFailed, p.start().wait(), args)
		assert.Regexp(t, `^assent: (run|replay|check|audit|version|command line): the output cannot be written: no space left on device\n$`, p.stderr.String(), args)
	}
}

// Much output does not fit either, while it is still being made.
func TestMuchOutputThatDoesNotFit(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer func() { _ = full.Close() }()
	recording := file(t, traffic+strings.Repeat(`{"dir":"agent->client","frame":`+offerFrame+"}\n", 100))
	p := command(t, "replay", "--json", recording)
	p.cmd.Stdout = full
	assert.Equal(t, console.ExitFailed, p.start().wait())
	assert.Equal(t, "assent: replay: the output cannot be written: no space left on device\n", p.stderr.String())
}
