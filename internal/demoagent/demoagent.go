package demoagent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Name is the agent's name in agentInfo.
const Name = "assent-demo-agent"

const (
	defaultVersion      = "0.0.0"
	defaultShellCommand = "echo hello from the demo agent"
	connectTimeout      = 10 * time.Second       // for connecting to one MCP server and listing its tools
	endTimeout          = 900 * time.Millisecond // from the end of the input to the end of Run
	closeGrace          = 250 * time.Millisecond // for saying goodbye to an MCP server
	maxLine             = 8 << 20                // in bytes
	queuedLines         = 64                     // read, but not yet handled
)

// Options of an agent. The zero value is good.
type Options struct {
	// Version is shown in agentInfo.
	Version string
	// ShellCommand is what the prompt "shell" runs; empty means a harmless echo.
	ShellCommand string
	// Act that the agent plays; by default it is honest.
	Act Act

	connectTimeout time.Duration // shortened by tests
}

func (o Options) withDefaults() Options {
	if o.Version == "" {
		o.Version = defaultVersion
	}
	if o.ShellCommand == "" {
		o.ShellCommand = defaultShellCommand
	}
	if o.connectTimeout == 0 {
		o.connectTimeout = connectTimeout
	}
	return o
}

// ErrStuck says that the agent could not end in time, most likely because nobody
// reads its output.
var ErrStuck = errors.New("demoagent: what was under way did not end in time and is left behind: is the output being read?")

// Run speaks ACP until in ends, which is no error, or ctx ends, or out fails.
// Lines that were read already are still handled; turns under way are cancelled.
// It returns within a second of the end. A Read of in that is blocked when ctx
// ends stays behind until in ends. On stderr it says what a person may need to
// know, one line each; it may be nil.
func Run(ctx context.Context, in io.Reader, out, stderr io.Writer, opts Options) error {
	if err := opts.Act.check(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := newAgent(ctx, cancel, out, stderr, opts.withDefaults())
	lines, ended := make(chan []byte, queuedLines), make(chan error, 1)
	go a.read(in, lines, ended)
	a.work.Go(func() { a.dispatch(lines); cancel(errInputEnded) })

	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
	}
	if !a.end() {
		return ErrStuck
	}
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, errInputEnded) {
		err = cause
	}
	return err
}

// errInputEnded is why everything ends in the normal case.
var errInputEnded = errors.New("demoagent: the input ended")

// end waits until every turn and every connection has ended, but not for ever.
func (a *agent) end() bool {
	done := make(chan struct{})
	go func() {
		a.work.Wait()
		a.sessions.close()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-time.After(endTimeout):
		return false
	}
}

// Main runs the agent on the process's standard input and output, in the act that
// [ActVariable] chooses, and returns the exit code: 0 when the input ended or the process was told to stop, else 1.
func Main() int {
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintln(os.Stderr, "demoagent: this is an ACP agent: it reads JSON-RPC lines, not words; start it with a client, as in: assent run -- demoagent")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := Run(ctx, os.Stdin, os.Stdout, os.Stderr, Options{Act: actFromEnvironment()})
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
