package serve

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/task"
)

// At the start one is warned of agents that cannot work, and of an id that is missing or
// that nobody knows; not of one that is well.
func TestWarningsOfAgents(t *testing.T) {
	r := begin(t, func(c *Config) {
		well := c.Agents["demo"]
		c.Agents["without"] = Agent{Command: well.Command, Env: well.Env}
		c.Agents["absent"] = Agent{ID: "claude-acp", Command: []string{"assent-no-such-agent"}}
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "agent.exe"), nil, 0o700)) // never started
		c.Agents["beside"] = Agent{ID: "claude-acp", Command: []string{"./agent.exe"}, Directory: dir}
		c.Agents["farther"] = Agent{ID: "claude-acp", Command: []string{"bin/agent.exe"}, Directory: dir}
		c.Agents["nowhere"] = Agent{ID: "claude-acp", Command: well.Command, Directory: filepath.Join(t.TempDir(), "none")}
		c.Agents["typo"] = Agent{ID: "cluade-acp", Command: well.Command}
	})
	var warned []string
	for line := range strings.Lines(r.log.String()) {
		if strings.Contains(line, "level=WARN") {
			warned = append(warned, line)
		}
	}
	require.Len(t, warned, 5)
	assert.Regexp(t, `the program of an agent is not found.*agent=absent program=assent-no-such-agent`, warned[0])
	assert.Regexp(t, `the program of an agent is not found.*agent=farther program=.*agent.exe`, warned[1])
	assert.Regexp(t, `the directory of an agent is not there.*agent=nowhere`, warned[2])
	assert.Regexp(t, `no dialect knows the id.*agent=typo id=cluade-acp near=claude-acp`, warned[3])
	assert.Regexp(t, `an agent has no id.*agent=without`, warned[4])
}

// A server that listens to others and answers none of them says so; one that has hosts,
// or listens to this machine alone, does not.
func TestWarningOfHosts(t *testing.T) {
	for _, test := range []struct {
		listen string
		hosts  []string
		warns  bool
	}{{"0.0.0.0:0", nil, true}, {"0.0.0.0:0", []string{"desk.example"}, false}, {"127.0.0.1:0", nil, false}} {
		r := begin(t, func(c *Config) { c.Listen, c.Insecure, c.Hosts = test.listen, true, test.hosts })
		assert.Equal(t, test.warns, r.log.Count("are all refused: name the hosts") > 0, test)
	}
}

// A task whose agent's program is named by a path that is not there says whose it is, and
// not the path; one that PATH should have is named.
func TestAProgramThatIsNotThere(t *testing.T) {
	r := begin(t, func(c *Config) {
		c.Agents["path"] = Agent{ID: "claude-acp", Command: []string{filepath.Join(t.TempDir(), "hunter2", "agent")}}
		c.Agents["name"] = Agent{ID: "claude-acp", Command: []string{"assent-no-such-agent"}}
	})
	p := r.dial(r.token("desk", all))
	p.watch()
	for name, says := range map[string]string{"path": "the program of agent path, whose command gives a path, is not there", "name": `cannot start "assent-no-such-agent"`} {
		var made wireTask
		p.ask("task.start", fmt.Sprintf(`{"title":"x","prompt":"hello","agent":%q}`, name), &made)
		p.settles(made.ID, task.Failed)
		assert.Contains(t, r.runner.note(made.ID), says)
		assert.NotContains(t, r.runner.note(made.ID), "hunter2")
	}
}

// Who names no agent where there are several and no default is told so, and not that
// there is none of the name; a parent that is none is told apart from that.
func TestWhichAgentIsMeant(t *testing.T) {
	r := begin(t, func(c *Config) { c.DefaultAgent, c.Agents["other"] = "", agentOf(t, "agent") })
	p := r.dial(r.token("desk", all))
	p.watch()
	assert.Equal(t, "invalid_payload", p.refused("task.start", `{"title":"x"}`))
	assert.Equal(t, "not_found", p.refused("task.start", `{"title":"x","agent":"nobody"}`))
	var made wireTask
	p.ask("task.start", `{"title":"x","agent":"other"}`, &made)
	p.ask("task.start", fmt.Sprintf(`{"title":"x","parent":%q}`, made.ID), nil)
	m, ok := p.call("task.start", `{"title":"x","parent":"task-hunter2"}`)
	require.True(t, ok)
	assert.Equal(t, "not_found", m.Error.Code)
	assert.Contains(t, m.Error.Message, "the parent is no task, or none that you see")
}

// An agent whose directory is not there is not the one that cannot be found; once it is
// there it works.
func TestADirectoryThatIsNotThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	r := begin(t, func(c *Config) {
		a := c.Agents["demo"]
		a.Directory = dir
		c.Agents["demo"] = a
	})
	p := r.dial(r.token("desk", all))
	p.watch()
	failed := p.start("x", "hello")
	p.settles(failed.ID, task.Failed)
	assert.Contains(t, r.runner.note(failed.ID), "the directory that it works in is not there")
	require.NoError(t, os.Mkdir(dir, 0o700))
	made := p.start("x", "hello")
	p.settles(made.ID, task.Idle)
	assert.Empty(t, r.runner.note(made.ID))
}

// Who cannot listen is told what to do about it, and about nothing else.
func TestListenErrors(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	_, err = net.Listen("tcp", taken.Addr().String())
	require.Error(t, err)
	for says, err := range map[string]error{
		"another server running there": err,
		"ports below 1024":             &net.OpError{Op: "listen", Err: syscall.EACCES},
		"no such address":              &net.OpError{Op: "listen", Err: syscall.EADDRNOTAVAIL},
	} {
		text := listenError("127.0.0.1:80", err).Error()
		assert.Contains(t, text, "cannot listen at 127.0.0.1:80: ")
		assert.Contains(t, text, says)
		assert.Equal(t, 1, strings.Count(text, "("), text)
	}
	assert.NotContains(t, listenError("127.0.0.1:80", &net.OpError{Op: "listen", Err: syscall.EMFILE}).Error(), "(")
}
