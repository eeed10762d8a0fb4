package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// health is whether the store takes what is written. A NATS server that could not
// write once, as on a full disk, refuses everything until its store is opened anew.
type health struct {
	mu     sync.Mutex
	failed *Bucket   // that the last write failed in; nil: it did not
	tried  time.Time // when it was last opened anew
}

const (
	// reopenAfter is from one try to open a store anew to the next.
	reopenAfter = 2 * time.Second
	// failingWithin bounds a write after one that failed, so that nobody waits long
	// for each of many.
	failingWithin = 2 * time.Second
	// room is what has to be free on the disk before that, in bytes.
	room = 256 << 10
	// probeKey is none that an entry can have.
	probeKey = "assent.probe"
)

// ErrNotWritable: the last write failed, and writing still does.
var ErrNotWritable = errors.New("state: the store takes nothing: is the disk full?")

// Writable says whether entries can be written: [ErrNotWritable] when the last write
// failed and another one does. It writes nothing while all is well.
func (s *State) Writable(ctx context.Context) error {
	s.health.mu.Lock()
	b := s.health.failed
	s.health.mu.Unlock()
	if b == nil {
		return nil
	}
	ctx, cancel := s.writing(ctx)
	defer cancel()
	_, err := b.kv.PutString(ctx, probeKey, "")
	if s.wrote(b, failure(err)); err != nil {
		return ErrNotWritable
	}
	return nil
}

// writing is for before a write: it bounds it.
func (s *State) writing(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.repair() {
		return context.WithTimeout(ctx, failingWithin)
	}
	return context.WithTimeout(ctx, answerWithin)
}

// wrote notes how a write ended.
func (s *State) wrote(b *Bucket, err error) {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	switch {
	case err == nil && s.health.failed != nil:
		s.health.failed = nil
		s.log.Warn("the store can be written again")
	case !errors.Is(err, ErrUnavailable), errors.Is(err, context.Canceled), s.ctx.Err() != nil:
	case s.health.failed == nil:
		s.log.Error("the store cannot be written: make room on its disk; it goes on by itself then", "error", err)
		fallthrough
	default:
		s.health.failed = b
	}
}

// repair opens the store of the embedded server anew when a write has failed and the
// disk has room again. It is called before a write, which tells whether it helped.
func (s *State) repair() (failing bool) {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	failing = s.health.failed != nil
	if !failing || s.embedded == nil || s.ctx.Err() != nil || time.Since(s.health.tried) < reopenAfter {
		return failing
	}
	s.health.tried = time.Now()
	err := s.embedded.hasRoom()
	if err == nil {
		err = s.embedded.reopen()
	}
	if err != nil {
		s.log.Error("the store was not opened anew", "error", err)
	}
	return failing
}

// hasRoom says whether something can be written beside the store.
func (e *embedded) hasRoom() error {
	f, err := os.CreateTemp(e.dir, "probe-*")
	if err != nil {
		return fmt.Errorf("state: the data folder: %w", err)
	}
	_, err = f.Write(make([]byte, room))
	err = errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
	if err != nil {
		return fmt.Errorf("state: the data folder: %w", err)
	}
	return nil
}
