//go:build unix

package proxy

import (
	"bufio"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/child"
	"github.com/kandev/assent/internal/testlog"
)

// patience is how long a test waits for what has to come.
const patience = 30 * time.Second

// running is a proxy before an agent in a process of its own; the client is the test.
type running struct {
	t           *testing.T
	in          *os.File // to the proxy
	out         *bufio.Reader
	outFile     *os.File
	stderr      testlog.Buffer // of the proxy
	agentStderr testlog.Buffer
	quiet       chan struct{} // closed when nobody has the agent's stderr any more
	signals     chan os.Signal
	done        chan struct{}
	code        int
	err         error
}

// start runs the proxy before this program in a role.
func start(t *testing.T, role string, args []string, change ...func(*Options)) *running {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	r := &running{t: t, quiet: make(chan struct{}), signals: make(chan os.Signal, 10), done: make(chan struct{})}
	clientIn, in, err := os.Pipe()
	require.NoError(t, err)
	out, clientOut, err := os.Pipe()
	require.NoError(t, err)
	errOut, errIn, err := os.Pipe()
	require.NoError(t, err)
	r.in, r.out, r.outFile = in, bufio.NewReaderSize(out, 64<<10), out
	var o Options
	o.Pipelines, o.Dialects = hostPipelines(t)
	o.Command = child.Command{Path: self, Args: args, Env: append(os.Environ(), roleVariable+"="+role, endsAtOnce)}
	o.Client, o.ToClient, o.AgentStderr, o.Stderr = clientIn, clientOut, errIn, &r.stderr
	o.Signals, o.Version = r.signals, "test"
	o.Close, o.Term = 200*time.Millisecond, 500*time.Millisecond
	for _, c := range change {
		c(&o)
	}
	go func() { defer close(r.quiet); _, _ = io.Copy(&r.agentStderr, errOut); _ = errOut.Close() }()
	go func() {
		defer close(r.done)
		r.code, r.err = Run(t.Context(), o)
		_ = errIn.Close()
	}()
	t.Cleanup(func() {
		_, _ = in.Close(), out.Close()
		r.wait()
		r.await(r.quiet, "somebody still has the agent's stderr")
		_ = clientIn.Close()
	})
	return r
}

func (r *running) await(done <-chan struct{}, why string) {
	r.t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		said := r.stderr.String()
		require.FailNow(r.t, why, said[max(0, len(said)-2000):])
	}
}

// wait waits for the end and gives the exit code.
func (r *running) wait() int {
	r.t.Helper()
	r.await(r.done, "the proxy did not end")
	return r.code
}

func (r *running) says(text string) {
	r.t.Helper()
	_, err := io.WriteString(r.in, text)
	require.NoError(r.t, err)
}

// line is the next line that the client gets.
func (r *running) line() string {
	r.t.Helper()
	line, err := r.out.ReadString('\n')
	require.NoError(r.t, err)
	return line
}

// rest is everything until the end of the agent's output.
func (r *running) rest() string {
	r.t.Helper()
	all, err := io.ReadAll(r.out)
	require.NoError(r.t, err)
	return string(all)
}
