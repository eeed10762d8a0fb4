//go:build unix && cgo

package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/console"
)

// without is the program with a redirection of the shell.
func without(t *testing.T, redirection string, args ...string) *program {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	p := command(t)
	p.cmd.Path = "/bin/sh"
	p.cmd.Args = append([]string{"sh", "-c", `exec "$0" "$@" ` + redirection, self}, args...)
	return p.start()
}

func TestAStdoutThatIsClosedIsAFailure(t *testing.T) {
	for _, args := range everyOutput(t) {
		p := without(t, ">&-", args...)
		assert.Equal(t, console.ExitFailed, p.wait(), args)
		assert.Equal(t, "assent: stdout: it is closed (give the output a terminal, a file or a pipe, or /dev/null to see none)\n", p.stderr.String(), args)

		p = without(t, ">/dev/null", args...) // the twins: output that nobody wants to see is fine
		assert.Zero(t, p.wait(), args)
		p = without(t, "1<>/dev/null", args...)
		assert.Zero(t, p.wait(), args)
	}
}
