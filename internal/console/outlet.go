package console

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/kandev/assent/internal/host/child"
)

// outlet writes to a file that perhaps nobody reads. A write waits, as any write
// does, so an agent is slowed down by a slow reader and nothing piles up; but once
// the program is to end, no write waits for long.
type outlet struct {
	f *os.File

	hurried   chan struct{} // closed when the program is to end
	hurryOnce sync.Once
	broken    chan struct{} // closed by the first error

	mu  sync.Mutex // one write at a time
	err error      // the first one: after that nothing is written
}

// lastPatience is how long a write waits when the program is to end.
const lastPatience = 3 * time.Second

// errUnread says that output was dropped.
var errUnread = errors.New("nobody reads it")

func newOutlet(f *os.File) *outlet {
	return &outlet{f: f, hurried: make(chan struct{}), broken: make(chan struct{})}
}

// Fd is the file's, for what has to be known of a terminal.
func (o *outlet) Fd() uintptr { return o.f.Fd() }

// hurry says that the program is to end.
func (o *outlet) hurry() { o.hurryOnce.Do(func() { close(o.hurried) }) }

// Write implements [io.Writer].
func (o *outlet) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	p = append([]byte(nil), p...) // the goroutine may still have it when nobody waits any more
	done := make(chan error, 1)
	go func() { // it stays when nobody reads: a write cannot be told to stop
		_, err := o.f.Write(p)
		done <- err
	}()
	if err := o.wait(done); err != nil {
		o.err = child.WithoutPath(err)
		close(o.broken)
		return 0, o.err
	}
	return len(p), nil
}

func (o *outlet) wait(done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-o.hurried:
	}
	timer := time.NewTimer(lastPatience)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return errUnread
	}
}

// failure is why not everything was written, as a failure of the run.
func (o *outlet) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		return nil
	}
	return unwritten(o.err)
}

// unwritten is the failure of a command whose output cannot be written.
func unwritten(err error) error {
	return Failed(fmt.Errorf("the output cannot be written: %w", child.WithoutPath(err)), "")
}

// CheckStdout says that there is no stdout. It knows only of a program that was
// built with cgo.
func CheckStdout() error {
	if stdoutClosed() {
		return Failed(errors.New("it is closed"), "give the output a terminal, a file or a pipe, or /dev/null to see none")
	}
	return nil
}

// Output is stdout of a command that only prints. Its error is a failure of the
// command, whatever came before it.
type Output struct{ File *os.File }

// Write implements [io.Writer].
func (o Output) Write(p []byte) (n int, err error) {
	if n, err = o.File.Write(p); err != nil {
		return n, unwritten(err)
	}
	return n, nil
}
