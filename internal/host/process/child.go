package process

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

// program is what to start. A path is the caller's, not one below Dir.
func (c Command) program() string {
	if strings.ContainsRune(c.Path, filepath.Separator) {
		if abs, err := filepath.Abs(c.Path); err == nil {
			return abs
		}
	}
	return c.Path
}

// child is a started process in a process group of its own. Its stdin and stdout
// are sockets where the system has socket pairs: into a pipe any process of the
// same user could write through /proc/<pid>/fd, and so forge an answer.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *lastWords
	stderr tail

	exited chan struct{} // closed when the process is gone and was waited for
	state  *os.ProcessState
	quiet  chan struct{} // closed when nothing more comes from stderr
}

// startChild starts a process. Drain is how long output is still waited for after
// it has gone: a process that it left behind may hold its stdout open for ever.
func startChild(c Command, drain time.Duration) (*child, error) {
	cmd := exec.Command(c.program(), c.Args...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	ends, err := newEnds()
	if err != nil {
		return nil, fmt.Errorf("process: no connection for the agent's stdin and stdout: %w", err)
	}
	defer ends.closeTheirs()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = ends.theirIn, ends.theirOut, ends.theirErr
	ownGroup(cmd)
	dieWithUs(cmd)
	p := &child{cmd: cmd, stdin: ends.ourIn, stdout: &lastWords{File: ends.ourOut, drain: drain}, exited: make(chan struct{}), quiet: make(chan struct{})}
	started := make(chan error, 1)
	go p.live(started, ends.ourErr)
	if err := <-started; err != nil {
		ends.closeOurs()
		return nil, &StartError{Program: filepath.Base(c.Path), Err: withoutPath(err)}
	}
	go p.drain(ends.ourErr)
	return p, nil
}

// live starts the process and waits for its end, on one thread all the time: where
// [dieWithUs] has an effect, the end of the thread that started it kills it.
func (p *child) live(started chan<- error, stderr *os.File) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err == nil {
		p.wait(stderr)
	}
}

// drain keeps the end of stderr.
func (p *child) drain(stderr *os.File) {
	defer close(p.quiet)
	_, _ = io.Copy(&p.stderr, stderr)
	_ = stderr.Close()
}

// wait waits for the process, ends whatever it left in its group, and gives its
// output a last moment to be read.
func (p *child) wait(stderr *os.File) {
	_ = p.cmd.Wait() // the state says it all
	p.state = p.cmd.ProcessState
	p.signalGroup(killGroup)
	for _, f := range []*os.File{p.stdout.File, stderr} {
		if f.SetReadDeadline(time.Now().Add(p.stdout.drain)) != nil { // no deadlines here
			time.AfterFunc(p.stdout.drain, func() { _ = f.Close() })
		}
	}
	close(p.exited)
}

// maxDrains bounds how often [lastWords] begins to wait anew.
const maxDrains = 60

// lastWords reads the stdout of a process, also after it has gone. A deadline
// that passed while nobody read must not swallow what is there.
type lastWords struct {
	*os.File
	drain time.Duration
	late  int
}

// Read reads, and after a deadline once more.
func (r *lastWords) Read(p []byte) (int, error) {
	n, err := r.File.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) && r.late < maxDrains {
		r.late++
		if r.SetReadDeadline(time.Now().Add(r.drain)) == nil {
			return r.File.Read(p)
		}
	}
	return n, err
}

// graces are the times that a process has to end by itself.
type graces struct {
	// close: after its stdin was closed; term: after it was asked to end.
	close, term time.Duration
}

// stop ends the process, whose stdin has been closed or is about to be: it waits,
// then asks the whole group to end, then kills it. When ctx ends it kills at
// once. It says whether a signal was needed.
func (p *child) stop(ctx context.Context, g graces) (signalled bool) {
	if p.gone(ctx, g.close) {
		return false
	}
	p.signalGroup(terminateGroup)
	if p.gone(ctx, g.term) {
		return true
	}
	p.signalGroup(killGroup)
	<-p.exited
	return true
}

// gone waits for the exit, but not longer than d and not beyond ctx.
func (p *child) gone(ctx context.Context, d time.Duration) bool {
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

func newEnds() (*ends, error) {
	e := &ends{}
	var err error
	if e.ourIn, e.theirIn, err = stream(toChild); err == nil {
		e.ourOut, e.theirOut, err = stream(fromChild)
	}
	if err == nil {
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

// withoutPath takes the name of the file out of an error: the caller has it.
func withoutPath(err error) error {
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
