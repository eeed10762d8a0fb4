package console

import (
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// outlet writes to a file that perhaps nobody reads. A write waits, as any write
// does, so an agent is slowed down by a slow reader and nothing piles up; but once
// the program is to end, no write waits for long.
type outlet struct {
	f     *os.File
	begin sync.Once
	work  chan []byte
	done  chan error

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

// newOutlet makes an outlet. When the reader of a pipe has gone that is an error of
// the write from then on, and no signal that ends the program.
func newOutlet(f *os.File) *outlet {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return &outlet{f: f, work: make(chan []byte), done: make(chan error, 1), hurried: make(chan struct{}), broken: make(chan struct{})}
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
	o.begin.Do(func() { go o.serve() })
	o.work <- append([]byte(nil), p...) // the goroutine may still have it when nobody waits any more
	if err := o.wait(); err != nil {
		o.err = withoutPath(err)
		close(o.broken)
		return 0, o.err
	}
	return len(p), nil
}

func (o *outlet) wait() error {
	select {
	case err := <-o.done:
		return err
	case <-o.hurried:
	}
	timer := time.NewTimer(lastPatience)
	defer timer.Stop()
	select {
	case err := <-o.done:
		return err
	case <-timer.C:
		return errUnread
	}
}

// serve writes. It stays with the process: a write cannot be told to stop.
func (o *outlet) serve() {
	for p := range o.work {
		_, err := o.f.Write(p)
		o.done <- err
	}
}

// failure is why not everything was written, as a failure of the run.
func (o *outlet) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		return nil
	}
	return Failed(errors.New("the output cannot be written: "+o.err.Error()), "")
}

// withoutPath takes the name of the file out of an error.
func withoutPath(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	return err
}
