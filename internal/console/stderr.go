package console

import (
	"fmt"
	"os"
	"sync"
)

// Stderr is where the program reports, its log included. Perhaps nobody reads it,
// and what decides must not wait for that: a write never waits. What is not read
// in time is kept up to a bound; what comes then is dropped, and how much that was
// is said once somebody reads again.
type Stderr struct {
	out *outlet

	mu      sync.Mutex
	cond    sync.Cond // something changed
	queue   [][]byte
	queued  int // bytes in the queue and of the write under way
	dropped int // writes, since that was last said
	serving bool
	closed  bool
}

// maxQueued bounds what waits for a reader, in bytes.
const maxQueued = 256 << 10

// NewStderr makes a Stderr of a file.
func NewStderr(f *os.File) *Stderr {
	s := &Stderr{out: newOutlet(f)}
	s.cond.L = &s.mu
	return s
}

// Fd is the file's, for what has to be known of a terminal.
func (s *Stderr) Fd() uintptr { return s.out.Fd() }

// File is the file itself, for an agent that takes the terminal over.
func (s *Stderr) File() *os.File { return s.out.f }

// Write implements [io.Writer]. It takes everything and never fails.
func (s *Stderr) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.queued > 0 && s.queued+len(p) > maxQueued { // one alone may be larger
		s.dropped++
		return len(p), nil
	}
	s.put(append([]byte(nil), p...))
	return len(p), nil
}

// put queues a write. The goroutine that writes lives as long as there is something
// to write.
func (s *Stderr) put(p []byte) {
	s.queue = append(s.queue, p)
	s.queued += len(p)
	if !s.serving {
		s.serving = true
		go s.serve()
	}
}

func (s *Stderr) serve() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) > 0 {
		p := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		_, err := s.out.Write(p)
		s.mu.Lock()
		s.queued -= len(p)
		if err != nil {
			s.dropped += 1 + len(s.queue)
			s.queue, s.queued, s.closed = nil, 0, true
		} else if len(s.queue) == 0 && s.dropped > 0 {
			s.put(fmt.Appendf(nil, "assent: stderr: %d lines were dropped, nobody read them in time\n", s.dropped))
			s.dropped = 0
		}
	}
	s.serving = false
	s.cond.Broadcast()
}

// Hurry says that the program is to end: no write waits for long any more.
func (s *Stderr) Hurry() { s.out.hurry() }

// Flush waits until everything is written, for a short time once [Stderr.Hurry]
// was called. It says how many writes were dropped without a word.
func (s *Stderr) Flush() (dropped int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.serving {
		s.cond.Wait()
	}
	return s.dropped
}

// Close writes what is left, for a short time, and takes no more. What was dropped
// is said if somebody reads by then.
func (s *Stderr) Close() {
	s.Hurry()
	if n := s.Flush(); n > 0 {
		_, _ = fmt.Fprintf(s.out, "assent: stderr: %d lines were dropped, nobody read them in time\n", n)
	}
}
