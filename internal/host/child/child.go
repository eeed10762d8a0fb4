// Package child starts the programs that the host talks to over their stdin and
// stdout, and ends them with everything they have started.
//
// A child has a session and a process group of its own. Where the system has
// socket pairs its stdin and stdout are sockets: into a pipe any process of the
// same user could write through /proc/<pid>/fd, and so forge what it says or what
// it is told.
package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Command says what to start.
type Command struct {
	// Path of the program, or its name to be looked up.
	Path string
	Args []string
	// Dir is the working directory; empty means the caller's.
	Dir string
	// Env is the whole environment; nil means the caller's. It can hold secrets.
	Env []string
}

// Format prints the program's name alone: arguments and environment can hold
// secrets.
func (c Command) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "{%q, %d args, %d env}", filepath.Base(c.Path), len(c.Args), len(c.Env))
}

// LogValue is the program's name alone, for the same reason.
func (c Command) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(c)) }

// Program is what to start. A path is the caller's, not one below Dir.
func (c Command) Program() string {
	if strings.ContainsRune(c.Path, filepath.Separator) {
		if abs, err := filepath.Abs(c.Path); err == nil {
			return abs
		}
	}
	return c.Path
}

// Child is a started process.
type Child struct {
	// Stdin and Stdout are our ends. A read of Stdout ends a moment after the
	// process has gone, also when something that it left behind holds it open.
	Stdin  *os.File
	Stdout *Stdout

	cmd      *exec.Cmd
	blocking bool
	stderr   tail
	exited   chan struct{} // closed when the process is gone and was waited for
	state    *os.ProcessState
	quiet    chan struct{} // closed when nothing more comes from stderr
}

// Options say how a process is started.
type Options struct {
	// Drain is how long output is still waited for after the process has gone.
	// Zero means one second.
	Drain time.Duration
	// Stderr is what the process gets as its own; nil keeps the end of what it
	// writes for [Child.Stderr].
	Stderr *os.File
	// Blocking makes our ends block: a read or write holds a thread, and goes on
	// sooner than one that waits with all others. Then nobody who waits is woken by
	// Close: use [Child.HangUp] before.
	Blocking bool
}

// Start starts a process. The error is a [*StartError], or says that there was
// no connection to be had for it.
func Start(c Command, o Options) (*Child, error) {
	if o.Drain <= 0 {
		o.Drain = time.Second
	}
	cmd := exec.Command(c.Program(), c.Args...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	ends, err := newEnds(o)
	if err != nil {
		return nil, fmt.Errorf("child: no connection for stdin and stdout: %w", err)
	}
	defer ends.closeTheirs()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = ends.theirIn, ends.theirOut, ends.theirErr
	if o.Stderr != nil {
		cmd.Stderr = o.Stderr
	}
	ownGroup(cmd)
	DieWithUs(cmd)
	p := &Child{
		cmd: cmd, Stdin: ends.ourIn, Stdout: &Stdout{File: ends.ourOut, drain: o.Drain}, blocking: o.Blocking,
		exited: make(chan struct{}), quiet: make(chan struct{}),
	}
	started := make(chan error, 1)
	go p.live(started, ends.ourErr)
	if err := <-started; err != nil {
		ends.closeOurs()
		return nil, &StartError{Program: filepath.Base(c.Path), Err: WithoutPath(err)}
	}
	go p.drain(ends.ourErr)
	return p, nil
}

// Pid of the process, which is also the number of its process group.
func (p *Child) Pid() int { return p.cmd.Process.Pid }

// Exited is closed when the process is gone.
func (p *Child) Exited() <-chan struct{} { return p.exited }

// State says how the process ended. It is for after [Child.Exited].
func (p *Child) State() *os.ProcessState { return p.state }

// Quiet is closed when nothing more comes from stderr.
func (p *Child) Quiet() <-chan struct{} { return p.quiet }

// Stderr is the end of what the process wrote there, for a person's eyes: escaped
// and bounded.
func (p *Child) Stderr() string { return p.stderr.Text() }

// StartError says that a program could not be started.
type StartError struct {
	// Program is its name without the path.
	Program string
	// Err is what the system said.
	Err error
}

// Error names the program.
func (e *StartError) Error() string {
	return fmt.Sprintf("child: cannot start %q: %v", e.Program, e.Err)
}

// Unwrap is what the system said.
func (e *StartError) Unwrap() error { return e.Err }

// live starts the process and waits for its end, on one thread all the time: where
// [DieWithUs] has an effect, the end of the thread that started it kills it.
func (p *Child) live(started chan<- error, stderr *os.File) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err == nil {
		p.wait(stderr)
	}
}

// drain keeps the end of stderr.
func (p *Child) drain(stderr *os.File) {
	defer close(p.quiet)
	if stderr == nil {
		return
	}
	_, _ = io.Copy(&p.stderr, stderr)
	_ = stderr.Close()
}

// wait waits for the process, ends whatever it left in its group, and gives its
// output a last moment to be read.
func (p *Child) wait(stderr *os.File) {
	_ = p.cmd.Wait() // the state says it all
	p.state = p.cmd.ProcessState
	p.signalGroup(killGroup)
	ours := []*os.File{p.Stdout.File, stderr}
	if p.blocking {
		time.AfterFunc(p.Stdout.drain, func() { hangUp(p.Stdout.File) })
		ours = ours[1:]
	}
	for _, f := range ours {
		if f != nil && f.SetReadDeadline(time.Now().Add(p.Stdout.drain)) != nil { // no deadlines here
			time.AfterFunc(p.Stdout.drain, func() { _ = f.Close() })
		}
	}
	close(p.exited)
}

// maxDrains bounds how often [Stdout] begins to wait anew.
const maxDrains = 60

// Stdout reads the stdout of a process, also after it has gone. A deadline that
// passed while nobody read must not swallow what is there.
type Stdout struct {
	*os.File
	drain time.Duration
	late  int
}

// Read reads, and after a deadline once more.
func (r *Stdout) Read(p []byte) (int, error) {
	n, err := r.File.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) && r.late < maxDrains {
		r.late++
		if r.SetReadDeadline(time.Now().Add(r.drain)) == nil {
			return r.File.Read(p)
		}
	}
	return n, err
}

// Graces are the times that a process has to end by itself.
type Graces struct {
	// Close: after its stdin was closed. Term: after it was asked to end.
	Close, Term time.Duration
}

// Stop ends the process, whose stdin has been closed or is about to be: it waits,
// then asks the whole group to end, then kills it. When ctx ends it kills at
// once. It says whether a signal was needed.
func (p *Child) Stop(ctx context.Context, g Graces) (signalled bool) {
	if p.gone(ctx, g.Close) {
		return false
	}
	p.signalGroup(terminateGroup)
	if p.gone(ctx, g.Term) {
		return true
	}
	p.signalGroup(killGroup)
	<-p.exited
	return true
}

// HangUp ends both directions: whoever waits to read gets the end, whoever waits to
// write an error, and so does the process.
func (p *Child) HangUp() {
	hangUp(p.Stdin)
	hangUp(p.Stdout.File)
}

// Kill kills the process, if it has not gone, and everything in its group.
func (p *Child) Kill() {
	select {
	case <-p.exited:
	default:
		p.signalGroup(killGroup)
	}
}

// gone waits for the exit, but not longer than d and not beyond ctx.
func (p *Child) gone(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// direction of a stream.
type direction bool

const (
	toChild   direction = true
	fromChild direction = false
)

// ends are both sides of a child's stdin, stdout and stderr.
type ends struct {
	ourIn, ourOut, ourErr       *os.File
	theirIn, theirOut, theirErr *os.File
}

func newEnds(o Options) (*ends, error) {
	e := &ends{}
	var err error
	if e.ourIn, e.theirIn, err = stream(toChild, o.Blocking); err == nil {
		e.ourOut, e.theirOut, err = stream(fromChild, o.Blocking)
	}
	if err == nil && o.Stderr == nil {
		e.ourErr, e.theirErr, err = os.Pipe()
	}
	if err != nil {
		e.closeTheirs()
		e.closeOurs()
		return nil, err
	}
	return e, nil
}

func (e *ends) closeTheirs() { closeAll(e.theirIn, e.theirOut, e.theirErr) }
func (e *ends) closeOurs()   { closeAll(e.ourIn, e.ourOut, e.ourErr) }

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// WithoutPath takes the name of the file out of an error: the caller has it.
func WithoutPath(err error) error {
	var exec *exec.Error
	var path *os.PathError
	switch {
	case errors.As(err, &exec):
		return exec.Err
	case errors.As(err, &path):
		return path.Err
	}
	return err
}
