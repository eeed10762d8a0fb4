//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/console"
)

func TestCtrlCCancelsTheTurn(t *testing.T) {
	p := command(t, append([]string{"run", "--agent", "claude-acp", "--prompt", "go", "--prompt", "never said"}, agent(t, "waits")...)...).start()
	p.stdout.until(t, "| working")
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	assert.Equal(t, console.ExitInterrupted, p.wait())
	assert.Equal(t, "assent: run: cancelling; Ctrl-C again stops the agent\n", p.stderr.String())
	assert.Contains(t, p.stdout.String(), "turn      over: cancelled")
	assert.NotContains(t, p.stdout.String(), "never said")
}

func TestCtrlCTwiceStops(t *testing.T) {
	p := command(t, append([]string{"run", "--agent", "claude-acp", "--prompt", "go"}, agent(t, "deaf")...)...).start()
	p.stdout.until(t, "| working")
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	p.stderr.until(t, "Ctrl-C again stops the agent")
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	assert.Equal(t, console.ExitInterrupted, p.wait())
}

func TestSIGTERMStopsAtOnce(t *testing.T) {
	p := command(t, append([]string{"run", "--agent", "claude-acp", "--prompt", "go"}, agent(t, "deaf")...)...).start()
	p.stdout.until(t, "| working")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, console.ExitInterrupted, p.wait())
}

// codex runs a passthrough of a fake Codex and gives what it was given.
func codex(t *testing.T, out string) (code int, stdout, stderr string, seen struct {
	Args          []string
	Status, Token string
}) {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(dir, "codex")))
	p := command(t, "run", "--passthrough", "--mcp", "docs=http://localhost:1/mcp", "--", filepath.Join(dir, "codex"), "exec", "--flag")
	p.cmd.Env = append(p.cmd.Env, "CODEX_OUT="+filepath.Join(dir, out))
	p.cmd.Stdin = strings.NewReader("typed")
	code = p.start().wait()
	text, err := os.ReadFile(filepath.Join(dir, out))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &seen))
	return code, p.stdout.String(), p.stderr.String(), seen
}

func TestL45_PassthroughOfCodex(t *testing.T) {
	code, stdout, stderr, seen := codex(t, "out")
	assert.Zero(t, code)
	assert.Empty(t, stderr)
	assert.Equal(t, "codex read \"typed\"\n", stdout, "the terminal is the agent's own")
	assert.Equal(t, "200 OK", seen.Status, "the injected server is there, and takes the secret")
	require.NotEmpty(t, seen.Token)

	line := strings.Join(seen.Args, " ")
	assert.Regexp(t, `mcp_servers\.kandev\.url="http://localhost:\d+/mcp"`, line)
	assert.Contains(t, line, `mcp_servers.kandev.bearer_token_env_var="ASSENT_MCP_TOKEN"`)
	assert.Equal(t, 1, strings.Count(line, "default_tools_approval_mode"))
	assert.Contains(t, line, `mcp_servers.kandev.default_tools_approval_mode="approve"`)
	assert.Contains(t, line, `mcp_servers.docs.url="http://localhost:1/mcp"`)
	assert.True(t, strings.HasSuffix(line, " exec --flag"))
	assert.NotContains(t, line, seen.Token)
}

func TestAPassthroughThatFails(t *testing.T) {
	code, _, stderr, _ := codex(t, "fail")
	assert.Equal(t, console.ExitFailed, code)
	assert.Equal(t, "assent: run: the agent ended by itself: exit status 5\n", stderr)
}

func TestAPassthroughThatIsStopped(t *testing.T) {
	dir := t.TempDir()
	path, wait := lifeline(t)
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(dir, "codex")))
	p := command(t, "run", "--passthrough", "--", filepath.Join(dir, "codex"))
	p.cmd.Env = append(p.cmd.Env, "CODEX_OUT="+filepath.Join(dir, "out"), "CODEX_STAYS="+path)
	p.start()
	wait("alive")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, console.ExitInterrupted, p.wait())
	wait("")
}

func TestFilesThatAreNoPrograms(t *testing.T) {
	dir := t.TempDir()
	plain, script := filepath.Join(dir, "plain"), filepath.Join(dir, "script")
	require.NoError(t, os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o600))
	require.NoError(t, os.WriteFile(script, []byte("console.log()\n"), 0o700))
	for path, want := range map[string]string{
		plain:  "permission denied (is the file executable? chmod +x makes it so, or give its interpreter first, as in: node agent.js)",
		script: "exec format error (it is no program for this system; give the interpreter of a script first, as in: node agent.js)",
	} {
		code, _, stderr := runIt(t, "run", "--agent", "claude-acp", "--prompt", "go", "--", path)
		assert.Equal(t, console.ExitFailed, code)
		assert.Equal(t, fmt.Sprintf("assent: run: cannot start %q: %s\n", filepath.Base(path), want), stderr)
	}
	for path, name := range map[string]string{dir: filepath.Base(dir), "./": "00"} {
		code, _, stderr := runIt(t, "run", "--agent", "claude-acp", "--prompt", "go", "--", path)
		assert.Equal(t, console.ExitUsage, code)
		assert.Contains(t, stderr, "assent: run: cannot start \""+name)
		assert.Contains(t, stderr, "\": it is a directory (give the program in it)\n")
	}
}
