package pagetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/demoagent"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/serve"
	"github.com/kandev/assent/internal/host/state"
	"github.com/kandev/assent/internal/host/token"
	"github.com/kandev/assent/stages"
)

// Variables that make the test program a daemon or an agent.
const (
	roleVariable   = "ASSENT_PAGETEST_ROLE"
	dataVariable   = "ASSENT_PAGETEST_DATA"
	listenVariable = "ASSENT_PAGETEST_LISTEN"
)

// agentMain is the demo agent. It leaves the number of its process, and its session.
func agentMain() int {
	name := filepath.Join(os.Getenv(dataVariable), "agent-"+strconv.Itoa(os.Getpid()))
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		return 1
	}
	if err := leakSession(); err != nil {
		return 1
	}
	return demoagent.Main()
}

// daemonMain is the daemon, until its input ends.
func daemonMain() int {
	if err := runDaemon(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func runDaemon() error {
	ctx := context.Background()
	dir := os.Getenv(dataVariable)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	config := serve.Config{
		Listen: os.Getenv(listenVariable), Data: dir, DefaultAgent: "demo", Offers: serve.Offers{NoSurfaceAfter: -1},
		Agents: map[string]serve.Agent{"demo": {ID: "claude-acp", Command: []string{self}, Env: map[string]string{roleVariable: "agent"}, Directory: os.TempDir()}},
	}
	logger := slog.New(slog.DiscardHandler)
	st, err := state.Open(ctx, state.Options{Dir: dir, Logger: logger})
	if err != nil {
		return err
	}
	tokens, err := token.Open(ctx, st, logger)
	if err != nil {
		return err
	}
	file := serve.AuditFile(dir)
	book, err := audit.Open(file, audit.Options{Logger: logger})
	if err != nil {
		return err
	}
	set, err := dialects.Index(dialects.All())
	if err != nil {
		return err
	}
	pipelines, err := stages.NewPipelineFactory(stages.HostOrder(), append(stages.Builtin(set), stages.WitnessFactory()))
	if err != nil {
		return err
	}
	s, err := serve.New(ctx, serve.Options{
		Config: config, Pipelines: pipelines, Dialects: set, State: st, Tokens: tokens, Audit: book, AuditFile: file, Logger: logger, Version: "test",
	})
	if err != nil {
		return err
	}
	if err := s.Greet(ctx, os.Stdout, true); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = s.Drain(ctx)
	tokens.Close()
	_ = book.Close(ctx)
	_ = st.Close()
	return err
}

// daemon is a process of its own.
type daemon struct {
	testing.TB
	dir, listen string
	page        string // the address that it printed at its first start, with a token
	cmd         *exec.Cmd
	input       io.Closer
}

func newDaemon(t testing.TB) *daemon {
	t.Helper()
	dir, err := os.MkdirTemp("", "assent") // a socket's path is short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	d := &daemon{TB: t, dir: dir, listen: "127.0.0.1:0"}
	d.start()
	t.Cleanup(func() {
		_ = d.input.Close()
		assert.NoError(t, d.cmd.Wait())
	})
	return d
}

// start starts the process and reads where its page is.
func (d *daemon) start() {
	d.Helper()
	self, err := os.Executable()
	require.NoError(d, err)
	d.cmd = exec.Command(self)
	d.cmd.Env = append(os.Environ(), roleVariable+"=daemon", dataVariable+"="+d.dir, listenVariable+"="+d.listen)
	d.cmd.Stderr = os.Stderr
	d.input, err = d.cmd.StdinPipe()
	require.NoError(d, err)
	output, err := d.cmd.StdoutPipe()
	require.NoError(d, err)
	require.NoError(d, d.cmd.Start())
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "assent runs at http://"); ok {
			d.listen = strings.TrimSuffix(address, "/")
		}
		if strings.Contains(lines.Text(), "#token=") {
			d.page = strings.TrimSpace(lines.Text())
		}
		if strings.HasPrefix(lines.Text(), "Ctrl-C") || strings.Contains(lines.Text(), "Ctrl-C ends it") {
			return
		}
	}
	require.Fail(d, "the daemon did not start")
}

// kill ends the process as the power does.
func (d *daemon) kill() {
	d.Helper()
	require.NoError(d, d.cmd.Process.Kill())
	_ = d.cmd.Wait()
}

// killAgents ends all agents in the same way.
func (d *daemon) killAgents() {
	d.Helper()
	marks, err := filepath.Glob(filepath.Join(d.dir, "agent-*"))
	require.NoError(d, err)
	require.NotEmpty(d, marks)
	for _, mark := range marks {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(mark), "agent-"))
		require.NoError(d, err)
		process, err := os.FindProcess(pid)
		require.NoError(d, err)
		_ = process.Kill() // it may have ended
	}
}

// enter opens the page as the daemon said.
func (d *daemon) enter() *window {
	d.Helper()
	w := open(d)
	w.visit(d.page)
	w.connected()
	return w
}

// begin starts a task in the page.
func (w *window) begin(title, prompt string) {
	w.Helper()
	w.run(`document.getElementById("start").open = true`)
	w.click("#start-form [name=prompt]")
	w.keys(prompt)
	w.click("#start-form [name=title]")
	w.keys(title + "\r")
	w.shows("#tasks", "‹"+title+"›")
}

func TestTheDaemonsDemoAgentIsAnswered(t *testing.T) {
	w := newDaemon(t).enter()
	w.begin("Look around", "shell")
	w.shows(".card", "‹echo hello from the demo agent›")
	assert.Contains(t, w.text(".card"), "name_without_mcp_prefix")
	w.run(`document.querySelector("#tasks details").open = true`)
	w.settled(".card")
	w.click(".card .allow_once")
	w.shows(".card", "Answered: Allow once, by you")
	w.shows("#tasks .spoken", "Ran: the shell command")
	w.shows("#tasks .state", "idle")
}

// A parent makes a child, the child asks, a person answers in the page, and the parent
// stops the child. Others cannot stop it. What the parent did by itself is in the log.
func TestTheDaemonsFamily(t *testing.T) {
	d := newDaemon(t)
	w := d.enter()
	w.begin("Parent", `create-child "shell"`)
	child := "#tasks > li > ul:last-child > li"
	w.until(`document.querySelector("` + child + `")`)
	w.shows(".card", "‹echo hello from the demo agent›")
	w.shows("#journal", "Call create_task_kandev of kandev")
	w.run(`document.querySelector("` + child + ` details").open = true`)
	w.settled(".card")
	w.picture("family")
	d.forgedStops(w, child+":nth-child(2) .state")
	w.shows(child+" .state", "waits for an answer")
	w.settled(".card")
	w.click(".card .allow_once")
	w.shows(child, "Ran: the shell command")
	w.run(`document.querySelector("#tasks > li > details").open = true`)
	w.rest("#tasks .controls")
	w.click("#tasks textarea")
	w.keys("stop-child")
	w.rest("#tasks .controls")
	w.click("#tasks form button")
	w.shows("#tasks > li > details .spoken", "It was told: stop-child")
	w.shows(child+" .state", "stopped")
}

func TestTheDaemonsAgentDies(t *testing.T) {
	d := newDaemon(t)
	w := d.enter()
	w.begin("Short life", "shell")
	w.shows(".card", "‹echo hello from the demo agent›")
	d.killAgents()
	w.shows(".card", "The agent has ended")
	w.shows("#tasks .state", "failed")
}

// After the power failed tasks are there, and open cards say what became of them.
func TestTheDaemonIsKilled(t *testing.T) {
	d := newDaemon(t)
	w := d.enter()
	w.begin("Long life", "shell")
	w.shows(".card", "‹echo hello from the demo agent›")
	d.kill()
	w.until(`document.body.classList.contains("offline")`)
	d.start()
	w.connected()
	w.shows(".card", "The server ended, and this request with it")
	w.shows("#tasks", "‹Long life›")
	w.until(`document.title === "assent"`)
	later := open(t)
	later.visit("http://" + d.listen + "/#" + strings.SplitN(d.page, "#", 2)[1])
	later.connected()
	later.shows("#tasks .mark", "what it had asked is gone")
}
