package proxy

import (
	"bufio"
	"io"
	"sync"
)

// sink writes whole lines of several goroutines. Lines that follow one another at
// once are written together.
type sink struct {
	mu  sync.Mutex
	w   *bufio.Writer
	cut bool // what was written last has no line end
	err error
}

// sinkBuffer is how much is written at once, in bytes.
const sinkBuffer = 64 << 10

func newSink(w io.Writer) *sink { return &sink{w: bufio.NewWriterSize(w, sinkBuffer)} }

// relay writes a line with the end that it has. More says that another one follows
// at once, so that this one may wait for it.
func (s *sink) relay(line []byte, more bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && len(line) > 0 {
		s.cut = line[len(line)-1] != '\n'
		_, s.err = s.w.Write(line)
	}
	return s.flush(more)
}

// send writes a line of our own, also behind a last line that has no end.
func (s *sink) send(line []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cut {
		line = append([]byte{'\n'}, line...)
	}
	s.cut = false
	if s.err == nil {
		_, s.err = s.w.Write(append(line, '\n'))
	}
	return s.flush(false)
}

// settle writes what waits.
func (s *sink) settle() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flush(false)
}

// flush writes what waits, unless more follows. After a failure the stream may end
// in the middle of a line, so every later call returns the same error.
func (s *sink) flush(more bool) error {
	if s.err == nil && !more {
		s.err = s.w.Flush()
	}
	return s.err
}
