package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/console"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/serve"
)

// dataFolder is short, because a socket is in it.
func dataFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "assent")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// The daemon with the demo agent says where to look, asks for something, manages
// tokens while it runs, and ends gracefully.
func TestServeDemo(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM there")
	}
	dir := dataFolder(t)
	p := command(t, "serve", "--demo", "--data", dir, "--listen", "127.0.0.1:0").start()
	p.stdout.until(t, "Ctrl-C ends it.")
	said := p.stdout.String()
	page := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(said)
	assert.Contains(t, said, page+"#token=assent_")
	answer, err := http.Get(page)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	assert.Equal(t, http.StatusOK, answer.StatusCode)

	code, out, stderr := runIt(t, "token", "create", "phone", "--scope", "view", "--data", dir)
	assert.Equal(t, console.ExitGood, code, stderr)
	assert.Contains(t, out, page+"#token=assent_")
	code, _, stderr = runIt(t, "serve", "--demo", "--data", dir, "--listen", "127.0.0.1:0")
	assert.Equal(t, console.ExitFailed, code)
	assert.Contains(t, stderr, "is in use by another process")
	assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)

	asked := func() (pends int) {
		_ = audit.Read(serve.AuditFile(dir), func(l audit.Line) error {
			if l.Record.Event == audit.Decision && l.Record.Reason == "name_without_mcp_prefix" {
				pends++
			}
			return nil
		})
		return pends
	}
	require.Eventually(t, func() bool { return asked() == 1 }, patience, 50*time.Millisecond, "the demo agent asks")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, console.ExitGood, p.wait(), p.stderr.String())

	code, out, stderr = runIt(t, "token", "list", "--data", dir)
	assert.Equal(t, console.ExitGood, code, stderr)
	assert.Regexp(t, `(?s)^name.*\nfirst +view,operate,answer +all .*\nphone +view +all `, out)
	code, _, stderr = runIt(t, "token", "delete", "phone", "--data", dir)
	assert.Equal(t, console.ExitGood, code, stderr)
	code, _, stderr = runIt(t, "token", "delete", "phone", "--data", dir)
	assert.Equal(t, console.ExitFailed, code)
	assert.Equal(t, "assent: token: there is no token of that name: assent token list shows those that there are (data folder "+dir+")\n", stderr)
	code, _, stderr = runIt(t, "token", "list", "--data", dir+"-typo")
	assert.Equal(t, console.ExitFailed, code)
	assert.Contains(t, stderr, "no server was ever started with the data folder")
	assert.NoDirExists(t, dir+"-typo")
}

// Whose log is for programs prints nothing beside it, and says there that it runs.
func TestServeForALog(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM there")
	}
	file := filepath.Join(t.TempDir(), "serve.toml")
	require.NoError(t, os.WriteFile(file, []byte("[agents.a]\ncommand = [\"sh\"]\n"), 0o600))
	for _, format := range []string{"json", "text"} {
		p := command(t, "serve", "--config", file, "--data", dataFolder(t), "--listen", "127.0.0.1:0", "--log-format", format, "--log-level", "info").start()
		p.stderr.until(t, "the server runs")
		if format == "text" {
			p.stdout.until(t, "Ctrl-C ends it.")
		}
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		assert.Equal(t, console.ExitGood, p.wait(), p.stderr.String())
		assert.Equal(t, format == "json", p.stdout.String() == "", p.stdout.String())
		assert.Contains(t, p.stderr.String(), "the server ends")
	}
}

// Ctrl-C ends it as gracefully, and the exit code says that it was interrupted.
func TestServeInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGINT there")
	}
	p := command(t, "serve", "--demo", "--data", dataFolder(t), "--listen", "127.0.0.1:0").start()
	p.stdout.until(t, "Ctrl-C ends it.")
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	assert.Equal(t, console.ExitInterrupted, p.wait())
	assert.Empty(t, p.stderr.String())
}

func TestServeUsage(t *testing.T) {
	dir := dataFolder(t)
	file := filepath.Join(t.TempDir(), "serve.toml")
	require.NoError(t, os.WriteFile(file, []byte("colour = 1\n"), 0o600))
	for says, args := range map[string][]string{
		"no agent is configured":           {"serve", "--data", dir},
		`there is no setting "colour"`:     {"serve", "--config", file},
		"can be reached from other":        {"serve", "--demo", "--data", dir, "--listen", "0.0.0.0:0"},
		"is not host and port":             {"serve", "--demo", "--data", dir, "--listen", "8421"},
		"creds need a url":                 {"serve", "--demo", "--data", dir, "--nats-creds", file},
		"--scope must be one of":           {"token", "create", "x", "--scope", "all", "--data", dir},
		"assent: token: <name> is missing": {"token", "create"},
		"a name has 1 to 64 letters":       {"token", "create", "a b", "--data", dir},
		"is no id of a task":               {"token", "create", "x", "--task", "task-nope", "--data", dir},
	} {
		code, stdout, stderr := runIt(t, args...)
		assert.Equal(t, console.ExitUsage, code, args)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, says, args)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
}
