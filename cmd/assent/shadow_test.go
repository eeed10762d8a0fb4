package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/console"
)

const shadowSummary = `dropped         witness   held    nothing was approved: both requests were asked about (injected_server_not_contacted)
never-arrives   tripwire  held    the first call was approved and did not arrive: fired once; the next request was asked about (tripwire_fired)
fails-elsewhere tripwire  held    the first call was approved and did not arrive: fired once; the next request was asked about (tripwire_fired)
borrows         witness   held    nothing was approved: both requests were asked about (injected_server_not_contacted); the first session's own calls were approved and arrived
`

func TestShadow(t *testing.T) {
	for _, answer := range []string{"", "allow", "reject"} {
		t.Run(answer, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "audit.jsonl")
			args := []string{"run", "--demo", "--prompt", "shadow", "--log-level", "error", "--audit", file}
			if answer != "" {
				args = append(args, "--on-pending", answer)
			}
			code, stdout, stderr := runIt(t, args...)
			assert.Zero(t, code, stdout)
			_, summary, _ := strings.Cut(stdout, "summary   ")
			assert.Equal(t, shadowSummary, strings.ReplaceAll(summary, "\n          ", "\n"))
			assert.Equal(t, 4, strings.Count(stdout, "\nheld      ")+strings.Count(stdout, "\nBROKEN    "))
			assert.Equal(t, 4, strings.Count("\n"+stdout, "\nact       "))
			assert.Equal(t, 4, strings.Count(stdout, "approved  #"), "one each of the tripwire's acts, two of the session that behaves")
			assert.Equal(t, 2, strings.Count(stderr, "an approved call never arrived"), "each said once")
			kept, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, 4, strings.Count(string(kept), `"net":"witness"`))
			assert.Equal(t, 2, strings.Count(string(kept), `"net":"tripwire"`))
			assert.Equal(t, answer == "", strings.Contains(stderr, "what nobody decides is cancelled"))
		})
	}
}

func TestShadowTakesNothingElse(t *testing.T) {
	for _, more := range []string{"--auto-approve", "--record=x", "--port=4", "--mcp=a=http://b/mcp"} {
		code, stdout, stderr := runIt(t, "run", "--demo", "--prompt", "shadow", more)
		assert.Equal(t, console.ExitUsage, code)
		assert.Empty(t, stdout)
		assert.Equal(t, "assent: run: --prompt shadow starts agents of its own to show what is not approved (leave --auto-approve, --record, --port and --mcp out)\n", stderr)
	}
	code, stdout, _ := runIt(t, "run", "--demo", "--prompt", "shadow", "--prompt", "help")
	assert.Zero(t, code)
	assert.Contains(t, stdout, "assent run --demo --prompt shadow", "among other prompts it is a word for the agent, which tells how")
}
