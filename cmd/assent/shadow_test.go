package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/shadow"
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

// A net that is missing is noticed, and said in the exit code.
func TestShadowCanFail(t *testing.T) {
	pipelines, set, err := compose() // without the witness
	require.NoError(t, err)
	out, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer func() { _ = out.Close() }()
	store := pending.New(pending.Config{})
	defer store.Close()
	s := newScreen(out, newLedger())
	c := &runCommand{OnPending: "reject"}
	s.surface = c.shadowPolicy(nil, s, store)
	agent, err := demoCommand()
	require.NoError(t, err)
	agent.Env = append(os.Environ(), mainVariable+"=1")
	host, err := shadow.NewHost(shadow.Options{Pipelines: pipelines, Dialects: set, Store: store, Watcher: s, Agent: agent})
	require.NoError(t, err)
	assert.EqualError(t, playAll(t.Context(), host, s), "a net did not hold: dropped, borrows")
	shown, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	assert.Contains(t, string(shown), "\nBROKEN    witness: request 1 was approved automatically (injected_mcp)\n")
	assert.Equal(t, 2, strings.Count(string(shown), "\nheld      tripwire: "))
}

func TestShadowTakesNothingElse(t *testing.T) {
	for _, more := range []string{"--auto-approve", "--record=x", "--port=4", "--mcp=a=http://b/mcp"} {
		code, stdout, stderr := runIt(t, "run", "--demo", "--prompt", "shadow", more)
		assert.Equal(t, exitUsage, code)
		assert.Empty(t, stdout)
		assert.Equal(t, "assent: run: --prompt shadow starts agents of its own to show what is not approved (leave --auto-approve, --record, --port and --mcp out)\n", stderr)
	}
	code, stdout, _ := runIt(t, "run", "--demo", "--prompt", "shadow", "--prompt", "help")
	assert.Zero(t, code)
	assert.Contains(t, stdout, "assent run --demo --prompt shadow", "among other prompts it is a word for the agent, which tells how")
}
