package proxy

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/testlog"
)

// sleeper is a process of its own session, with a mark if that is given.
func sleeper(t *testing.T, mark string) *exec.Cmd {
	cmd := exec.Command("sleep", "600")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	if mark != "" {
		cmd.Env = append(cmd.Env, markVariable+"="+mark)
	}
	inItsOwnSession(cmd)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// lives says whether a process has not ended.
func lives(cmd *exec.Cmd) bool {
	p, ok := readProcess(cmd.Process.Pid)
	return ok && p.stat[statState] != "Z"
}

// What has the mark, or is of the agent's session, is killed when the pipe ends
// without a last word; everything else lives, and so does all of it after one.
func TestWhatTheWatcherKills(t *testing.T) {
	const mark = "0123456789abcdef"
	marked, longer, unmarked, agent := sleeper(t, mark), sleeper(t, mark+"0"), sleeper(t, ""), sleeper(t, "")
	number := strconv.Itoa(agent.Process.Pid)
	told := func(words ...string) { Watch(strings.NewReader(strings.Join(words, "\n") + "\n")) }

	told(mark, wordAgent+number+" "+started(agent.Process.Pid), wordDone)
	told()
	told("another")
	told(mark[:5])
	told("another", wordAgent+number+" 1") // a process of another time with the same number
	told("another", wordAgent+number)
	told("another", wordAgent+"no number 7")
	for _, cmd := range []*exec.Cmd{marked, longer, unmarked, agent} {
		require.True(t, lives(cmd))
	}
	told(mark, wordAgent+number+" "+started(agent.Process.Pid))
	assert.False(t, lives(marked))
	assert.False(t, lives(agent))
	assert.True(t, lives(longer))
	assert.True(t, lives(unmarked))
	assert.Empty(t, started(1<<30), "a process that is not there")
}

// A session whose leader has gone is still the agent's while others live in it.
func TestASessionWithoutItsLeader(t *testing.T) {
	leader := exec.Command("sh", "-c", "sleep 600 & echo $!; read line")
	inItsOwnSession(leader)
	in, err := leader.StdinPipe()
	require.NoError(t, err)
	out, err := leader.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, leader.Start())
	said := make([]byte, 20)
	n, err := out.Read(said)
	require.NoError(t, err)
	left, err := strconv.Atoi(strings.TrimSpace(string(said[:n])))
	require.NoError(t, err)
	number, start := strconv.Itoa(leader.Process.Pid), started(leader.Process.Pid)
	require.NoError(t, in.Close())
	_ = leader.Wait()
	p, ok := readProcess(left)
	require.True(t, ok)
	assert.True(t, p.ofSession(number, start))
	assert.False(t, p.ofSession("", start))
	Watch(strings.NewReader("mark\n" + wordAgent + number + " " + start + "\n"))
	p, ok = readProcess(left)
	assert.True(t, !ok || p.stat[statState] == "Z")
}

// The watcher is told in this order who is to be watched, and when it is over.
func TestTheWatcherIsTold(t *testing.T) {
	r, pipe, err := os.Pipe()
	require.NoError(t, err)
	log := &testlog.Buffer{}
	w := &watcher{value: "mark", log: log.Logger(), cmd: exec.Command("true"), pipe: pipe}
	require.NoError(t, w.cmd.Start())
	w.tell(w.value)
	w.watch(os.Getpid())
	w.close()
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, "mark\nagent "+strconv.Itoa(os.Getpid())+" "+started(os.Getpid())+"\ndone\n", string(got))
	assert.Equal(t, []string{"ASSENT_INSTANCE=mark"}, w.mark())
	assert.Empty(t, log.String())

	require.NoError(t, r.Close())
	w.tell("nobody listens")
	assert.Equal(t, 1, log.Count("the watcher has gone"))

	none, err := startWatcher(nil, nil)
	require.NoError(t, err)
	none.watch(1)
	none.close()
	other, err := startWatcher(nil, nil)
	require.NoError(t, err)
	assert.NotEqual(t, none.mark(), other.mark())
}

// A real watcher ends with a last word, and is killed if it does not end.
func TestARealWatcherEnds(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for role, good := range map[string]bool{"watcher": true, "stays": false} {
		w, err := startWatcher([]string{"/usr/bin/env", roleVariable + "=" + role, endsAtOnce, self}, (&testlog.Buffer{}).Logger())
		require.NoError(t, err)
		w.watch(os.Getpid())
		w.close()
		assert.Equal(t, good, w.cmd.ProcessState.Success(), role)
	}
}

// The watcher takes no notice of signals.
func TestTheWatcherIgnoresSignals(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	w, err := startWatcher([]string{"/usr/bin/env", roleVariable + "=told watcher", endsAtOnce, self}, (&testlog.Buffer{}).Logger())
	require.NoError(t, err)
	w.close()
	assert.True(t, w.cmd.ProcessState.Success(), "it told itself to end, and went on")
}

func init() {
	roles["told watcher"] = func() {
		pipe := WatchPipe()
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
			_ = syscall.Kill(os.Getpid(), s)
		}
		Watch(pipe)
	}
}
