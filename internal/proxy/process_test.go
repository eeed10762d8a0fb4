//go:build unix

package proxy

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/record"
	"github.com/kandev/assent/pipeline/acp"
)

// The exit code is the agent's.
func TestExitCodes(t *testing.T) {
	for name, c := range map[string]struct {
		role string
		arg  string
		want int
	}{
		"good":                {"exits", "0", 0},
		"its own":             {"exits", "3", 3},
		"killed":              {"dies", "9", 137},
		"terminated":          {"dies", "15", 143},
		"good at the end":     {"echoes", "0", 0},
		"its own at the end":  {"echoes", "3", 3},
		"above all numbers":   {"exits", "255", 255},
		"one that looks like": {"exits", "137", 137},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, c.role, []string{c.arg}, func(o *Options) { o.Close = patience })
			if c.role == "echoes" {
				require.NoError(t, r.in.Close())
			}
			assert.Empty(t, r.rest())
			assert.Equal(t, c.want, r.wait())
			assert.NoError(t, r.err)
		})
	}
}

// What the agent writes to stderr is its own there, byte for byte.
func TestStderrPassesThrough(t *testing.T) {
	r := start(t, "complains", nil)
	r.says("\n")
	assert.Zero(t, r.wait())
	r.await(r.quiet, "stderr has no end")
	assert.Equal(t, binary, r.agentStderr.String())
	assert.NotContains(t, r.stderr.String(), "red", "and nothing of it is ours")
}

// An agent that the end of its input does not end is told to, and then killed with
// everything in its group; one that does as it is told ended well.
func TestTheClientGoes(t *testing.T) {
	for name, c := range map[string]struct {
		role string
		want int
	}{
		"it ends by itself":      {"echoes", 0},
		"it needs to be told":    {"stays", 0},
		"it needs to be killed":  {"ignores", 137},
		"it ends in its own way": {"signals", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, c.role, nil)
			if c.role != "echoes" {
				require.Equal(t, saidLine("ready"), r.line())
			}
			require.NoError(t, r.in.Close())
			assert.Equal(t, c.want, r.wait())
			r.await(r.quiet, "something that the agent has started is left")
		})
	}
}

// The client that closes its reading end has gone, also when its other end is open.
func TestTheClientStopsReading(t *testing.T) {
	r := start(t, "chatters", nil)
	require.Equal(t, saidLine("blah"), r.line())
	require.NoError(t, r.outFile.Close())
	code := r.wait()
	assert.Contains(t, []int{0, 7, 128 + 13}, code, "it was told to end, or noticed: by an error or SIGPIPE")
}

// Signals are passed on, and one that means the end is not forgotten.
func TestSignalsPassOn(t *testing.T) {
	r := start(t, "signals", nil, func(o *Options) { o.Term = patience })
	require.Equal(t, saidLine("ready"), r.line())
	for _, s := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		r.signals <- s
		assert.Equal(t, saidLine(s.String()), r.line())
	}
	assert.Equal(t, 5, r.wait(), "the agent chose its exit code")

	r = start(t, "ignores", nil)
	require.Equal(t, saidLine("ready"), r.line())
	r.signals <- syscall.SIGTERM
	assert.Equal(t, 137, r.wait(), "an agent that takes no notice is killed")

	r = start(t, "signals", nil, func(o *Options) { o.Term = time.Millisecond })
	require.Equal(t, saidLine("ready"), r.line())
	for range 3 { // none of these is the end
		r.signals <- syscall.SIGUSR1
		assert.Equal(t, saidLine(syscall.SIGUSR1.String()), r.line())
	}
	require.NoError(t, r.in.Close())
	r.wait()
}

// An agent may close its stdout and go on: the client sees the end, and what it says
// still arrives.
func TestTheAgentClosesStdout(t *testing.T) {
	r := start(t, "closes stdout", nil)
	assert.Equal(t, saidLine("the last"), r.rest())
	r.says(saidLine("are you there?"))
	require.Eventually(t, func() bool { return r.agentStderr.String() == saidLine("are you there?") }, patience, time.Millisecond)
	require.NoError(t, r.in.Close())
	assert.Equal(t, 4, r.wait())
}

// What an agent says right before it ends is not lost, read at once or later.
func TestLastWords(t *testing.T) {
	for name, late := range map[string]bool{"read at once": false, "read late": true} {
		t.Run(name, func(t *testing.T) {
			r := start(t, "last words", nil)
			if late {
				require.Eventually(t, func() bool { return gone(strings.TrimSpace(r.agentStderr.String())) }, patience, time.Millisecond)
			}
			var want strings.Builder
			for n := range 100 {
				want.WriteString(floodLine(n))
			}
			assert.Equal(t, want.String()+strings.TrimSuffix(saidLine("the last"), "\n"), r.rest())
			assert.Zero(t, r.wait())
		})
	}
}

// Nothing is queued for a slow client: the agent waits for it. Nothing is lost, and
// everything keeps its order.
func TestASlowClientIsWaitedFor(t *testing.T) {
	const lines = 60_000
	r := start(t, "floods", []string{"60000"})
	before := heap()
	for n := range lines {
		line := r.line()
		if line != floodLine(n) {
			require.Equal(t, floodLine(n), line)
		}
		if n == lines/2 {
			assert.Less(t, heap(), before+(4<<20), "memory does not grow with what is said")
			assert.Zero(t, r.agentStderr.Count("through"), "the agent waits")
		}
	}
	assert.Empty(t, r.rest())
	assert.Zero(t, r.wait())
	r.await(r.quiet, "stderr has no end")
	assert.Equal(t, "through\n", r.agentStderr.String())
}

// gone says whether there is no process with a number any more.
func gone(pid string) bool {
	number, err := strconv.Atoi(pid)
	return err == nil && errors.Is(syscall.Kill(number, 0), syscall.ESRCH)
}

// heap is how much memory is in use, in bytes.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A line of the greatest length passes, to the agent and back.
func TestTheLongestLinePasses(t *testing.T) {
	if testing.Short() {
		t.Skip("128 MiB")
	}
	r := start(t, "echoes", nil)
	line := bytes.Repeat([]byte{'x'}, acp.DefaultMaxLine+1)
	copy(line, `{"method":"_test/long","params":"`)
	copy(line[len(line)-3:], "\"}\n")
	sent := make(chan error, 1)
	go func() {
		_, err := r.in.Write(line)
		sent <- err
	}()
	got := make([]byte, len(line))
	_, err := io.ReadFull(r.out, got)
	require.NoError(t, err)
	require.NoError(t, <-sent)
	assert.True(t, bytes.Equal(line, got))
	require.NoError(t, r.in.Close())
	assert.Zero(t, r.wait())
}

// An agent that never reads what it is told, and asks and asks, ends all the same.
func TestADeafAgentEnds(t *testing.T) {
	for name, end := range map[string]func(*running){
		"the client goes": func(r *running) { _ = r.in.Close() },
		"a signal":        func(r *running) { r.signals <- syscall.SIGTERM },
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, "deaf", nil)
			require.Eventually(t, func() bool { return r.agentStderr.Count("through") > 0 }, patience, time.Millisecond)
			end(r)
			assert.Contains(t, []int{0, 143}, r.wait())
		})
	}
}

// Nor does a client that talks to a deaf agent keep a signal from ending it.
func TestATalkingClientAndADeafAgent(t *testing.T) {
	r := start(t, "stays", nil)
	require.Equal(t, saidLine("ready"), r.line())
	talking := make(chan struct{})
	go func() {
		defer close(talking)
		for {
			if _, err := io.WriteString(r.in, floodLine(1)); err != nil {
				return
			}
		}
	}()
	r.signals <- syscall.SIGTERM
	assert.Equal(t, 143, r.wait())
	require.NoError(t, r.in.Close())
	<-talking
}

// A program that cannot be started is an error that names it, and leaves nothing.
func TestAProgramThatIsNotThere(t *testing.T) {
	tg := serveTarget(t, "run")
	for name, change := range map[string]func(*Options){
		"the agent":   func(o *Options) { o.Command.Path = "/no/such/agent-program" },
		"the watcher": func(o *Options) { o.Watcher = []string{"/no/such/watcher-program"} },
	} {
		t.Run(name, func(t *testing.T) {
			port := 0
			r := start(t, "echoes", nil, change, func(o *Options) {
				o.Inject = []Injection{{Name: "kandev", Target: tg.Target}}
				o.Recorder = func(list []record.Server) (Recorder, error) { port = list[0].Port; return failing{}, nil }
			})
			r.wait()
			require.Error(t, r.err)
			assert.Contains(t, r.err.Error(), "-program")
			if name == "the agent" { // the watcher is there before anything else
				require.NotZero(t, port)
				assert.Equal(t, 0, listening(port), "the port is free again")
			}
		})
	}
	r := start(t, "echoes", nil, func(o *Options) { o.Pipelines = nil })
	r.wait()
	assert.ErrorIs(t, r.err, ErrNoPipelines)
}
