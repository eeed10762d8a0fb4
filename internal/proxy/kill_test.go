//go:build linux

package proxy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Rounds that are played at one time, and in how much time after its first sign of
// life a process may be killed.
const (
	killers      = 3
	killWithin   = 120 * time.Millisecond
	killRounds   = 200
	shortRounds  = 12
	killPatience = 60 * time.Second
)

// killed is one round: a client, a proxy, an agent and what that has started, of
// which one is killed. All of them have the token in their environment.
type killed struct {
	t             *testing.T
	token, report string
	victim        string
	delay         time.Duration
}

// Whoever of client, proxy and agent is killed, and whenever: no process and no open
// port is left. The agent has started others in a session of their own, which nobody
// but itself and the watcher can find.
func TestNothingIsLeftAfterAKill(t *testing.T) {
	rounds := killRounds
	if testing.Short() {
		rounds = shortRounds
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	dir, next := t.TempDir(), make(chan int)
	var playing sync.WaitGroup
	for range killers {
		playing.Go(func() {
			for n := range next {
				random := rand.New(rand.NewPCG(seed, uint64(n)))
				k := killed{
					t: t, token: fmt.Sprintf("%s=%d-%d", killVariable, seed, n), report: filepath.Join(dir, strconv.Itoa(n)),
					victim: []string{"client", "proxy", "agent"}[n%3], delay: time.Duration(random.Int64N(int64(killWithin))),
				}
				k.play()
			}
		})
	}
	for n := range rounds {
		next <- n
	}
	close(next)
	playing.Wait()
}

// play starts everything, kills one and waits for the others to go. What is left is a
// failure, and killed.
func (k killed) play() {
	about := fmt.Sprintf("%s: the %s was killed after %v", k.token, k.victim, k.delay)
	client, err := killRole("client", k.token, reportVariable+"="+k.report)
	if assert.NoError(k.t, err) && assert.NoError(k.t, client.Start()) {
		gone := make(chan struct{})
		go func() { defer close(gone); _ = client.Wait() }()
		if pid := k.reported(k.victim); assert.NotZero(k.t, pid, about) {
			<-time.After(k.delay)
			assert.NoError(k.t, syscall.Kill(pid, syscall.SIGKILL), about)
		}
		assert.Eventually(k.t, func() bool { return len(processesOf(k.token)) == 0 }, killPatience, 20*time.Millisecond, about)
		if port := k.said("port"); port != 0 {
			assert.Zero(k.t, listening(port), about)
		}
		for _, pid := range processesOf(k.token) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		<-gone
	}
}

// said is a number from the report; 0 for none.
func (k killed) said(what string) (number int) {
	text, _ := os.ReadFile(k.report)
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, what+" "); found {
			number, _ = strconv.Atoi(strings.TrimSpace(value))
		}
	}
	return number
}

// reported waits until a process has reported.
func (k killed) reported(role string) (pid int) {
	for end := time.Now().Add(killPatience); pid == 0 && time.Now().Before(end); <-time.After(time.Millisecond) {
		pid = k.said(role)
	}
	return pid
}

// processesOf are the processes that live and have a variable in their environment.
func processesOf(token string) (pids []int) {
	entries, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, entry := range entries {
		environment, err := os.ReadFile(entry)
		if err == nil && bytes.Contains(environment, append([]byte(token), 0)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(entry)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// The test sees what it looks for: all of them are there before the kill, and without
// the watcher what the agent has started is left.
func TestWithoutTheWatcherSomethingIsLeft(t *testing.T) {
	k := killed{t: t, token: killVariable + "=alone", report: filepath.Join(t.TempDir(), "report")}
	client, err := killRole("client", k.token, reportVariable+"="+k.report, unwatchedVariable+"=1")
	require.NoError(t, err)
	require.NoError(t, client.Start())
	require.NotZero(t, k.reported("agent"))
	require.Eventually(t, func() bool { return len(processesOf(k.token)) == 5 }, killPatience, time.Millisecond, "client, proxy, agent, its child and a grandchild")
	assert.NotZero(t, listening(k.said("port")))
	require.NoError(t, syscall.Kill(k.said("proxy"), syscall.SIGKILL))
	_ = client.Wait()
	assert.Eventually(t, func() bool { return len(processesOf(k.token)) == 2 }, killPatience, time.Millisecond, "the agent dies with the proxy")
	assert.Zero(t, listening(k.said("port")))
	for _, pid := range processesOf(k.token) {
		assert.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	}
}

// killRole is this program in one of the roles of these tests.
func killRole(role string, environment ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), environment...), roleVariable+"=killed "+role, endsAtOnce)
	return cmd, nil
}
