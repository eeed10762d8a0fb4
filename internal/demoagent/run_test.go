package demoagent

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline/acp"
)

const initializeLine = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n"

// endsSoon fails if what f does takes longer than the agent may.
func endsSoon(t *testing.T, f func()) {
	t.Helper()
	begun := time.Now()
	f()
	assert.Less(t, time.Since(begun), time.Second)
}

func TestWhatWasReadIsAnswered(t *testing.T) {
	var out strings.Builder
	endsSoon(t, func() {
		require.NoError(t, Run(context.Background(), strings.NewReader(initializeLine), &out, nil, Options{}))
	})
	assert.Contains(t, out.String(), `"id":1,"result"`)
	assert.Equal(t, 1, strings.Count(out.String(), "\n"))
}

// The input may end at any moment: the agent ends within a second and nothing
// that was not allowed runs.
func TestInputEnds(t *testing.T) {
	t.Run("while it asks", func(t *testing.T) {
		ran, servers := twoServers(t)
		c := start(t, Options{})
		c.open(servers...)
		c.request("session/prompt", promptParams(c.session, "plan"))
		for c.next().Offer == nil {
			continue
		}
		endsSoon(t, func() { require.NoError(t, c.end()) })
		assert.Empty(t, ran.all())
	})
	t.Run("while it connects", func(t *testing.T) {
		reached := make(chan struct{}, 9)
		hangs := hangingServer(t, reached)
		c := start(t, Options{})
		c.request("session/new", object{"cwd": t.TempDir(), "mcpServers": []object{entry("http", "kandev", hangs)}})
		<-reached
		endsSoon(t, func() { require.NoError(t, c.end()) })
	})
	t.Run("while a command runs", func(t *testing.T) {
		command := "sleep 600 & sleep 600"
		c := start(t, Options{ShellCommand: command})
		c.open()
		c.request("session/prompt", promptParams(c.session, "shell"))
		for {
			f := c.next()
			if f.Offer != nil {
				c.sendf(`{"jsonrpc":"2.0","id":%s,%s}`, f.Offer.ID, selects("allow-once"))
			}
			if strings.Contains(f.line, "in_progress") {
				break
			}
		}
		endsSoon(t, func() { require.NoError(t, c.end()) })
	})
	t.Run("with a server that does not end", func(t *testing.T) {
		c := start(t, Options{connectTimeout: time.Minute})
		c.open(stdioEntry(t, "stdio", "stdio-server"))
		c.request("session/new", object{"cwd": t.TempDir(), "mcpServers": []object{stdioEntry(t, "deaf", "deaf-server")}})
		endsSoon(t, func() { require.NoError(t, c.end()) })
	})
}

func TestInputBreaks(t *testing.T) {
	t.Run("in the middle of a line", func(t *testing.T) {
		err := Run(context.Background(), strings.NewReader(`{"jsonrpc"`), io.Discard, nil, Options{})
		assert.ErrorIs(t, err, acp.ErrCutLine)
	})
	t.Run("with an error", func(t *testing.T) {
		broken := errors.New("broken")
		err := Run(context.Background(), io.MultiReader(strings.NewReader("\n"), failingReader{broken}), io.Discard, nil, Options{})
		assert.ErrorIs(t, err, broken)
	})
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, hold := io.Pipe()
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- Run(ctx, in, io.Discard, nil, Options{}) }()
		synctest.Wait()
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled)
		_ = hold.Close()
	})
}

func TestOutputFails(t *testing.T) {
	in, hold := io.Pipe()
	defer hold.Close()
	go func() { _, _ = hold.Write([]byte(initializeLine)) }()
	broken := errors.New("broken")
	assert.ErrorIs(t, Run(context.Background(), in, failingWriter{broken}, nil, Options{}), broken)
}

// A client that does not read cannot keep the agent from ending.
func TestOutputIsNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, stuck := io.Pipe()
		begun := time.Now()
		err := Run(context.Background(), strings.NewReader(strings.Repeat(initializeLine, 10)), stuck, nil, Options{})
		assert.ErrorIs(t, err, ErrStuck)
		assert.Less(t, time.Since(begun), time.Second)
		_ = out.Close()
	})
}

// The agent as a process of its own.
func TestMainProgram(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), modeVariable+"=agent", raceOptions+"=atexit_sleep_ms=0")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())

	_, err = io.WriteString(in, initializeLine)
	require.NoError(t, err)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, line, Name)
	endsSoon(t, func() {
		require.NoError(t, in.Close())
		require.NoError(t, cmd.Wait())
	})
}
