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
	mu       sync.Mutex
	failed   map[string]*Bucket // whose last write failed, by their names
	checking chan struct{}      // closed when the check that runs is over; nil: none does
	checked  time.Time          // when the last one was over
	reopened time.Time          // when the store was last opened anew
}

const (
	// checkAfter is from one check to the next.
	checkAfter = 2 * time.Second
	// reopenAfter is from one time that the store is opened anew to the next, unless its
	// disk refused a write in between: something else may be wrong.
	reopenAfter = time.Minute
	// failingWithin bounds a write after one that failed, so that nobody waits long
	// for each of many.
	failingWithin = 2 * time.Second
	// room is what has to be free on the disk before that, in bytes.
	room = 256 << 10
	// probeKey is none that an entry can have.
	probeKey = "assent.probe"
)

// ErrNotWritable: the last write to some bucket failed, and it is not known that
// another one does not.
var ErrNotWritable = errors.New("state: the store takes nothing: is the disk full, or the server away?")

// Writable says whether entries can be written. It writes nothing while all is well.
// When the last write to a bucket failed it has that looked after, and waits for it
// until ctx ends.
func (s *State) Writable(ctx context.Context) error {
	checking := s.check()
	if checking != nil {
		select {
		case <-checking:
		case <-ctx.Done():
		}
	}
	if s.failing() {
		return ErrNotWritable
	}
	return nil
}

func (s *State) failing() bool {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	return len(s.health.failed) > 0
}

// writing is for before a write: it bounds it.
func (s *State) writing(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.failing() {
		s.check()
		return context.WithTimeout(ctx, failingWithin)
	}
	return context.WithTimeout(ctx, answerWithin)
}

// wrote notes how a write ended.
func (s *State) wrote(b *Bucket, err error) {
	h, name := &s.health, b.kv.Bucket()
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err == nil:
		if _, was := h.failed[name]; was {
			delete(h.failed, name)
			s.log.Warn("the store can be written again", "bucket", name)
		}
	case !errors.Is(err, ErrUnavailable), errors.Is(err, context.Canceled), s.ctx.Err() != nil:
	case h.failed[name] == nil:
		s.log.Error("the store cannot be written: is its disk full or slow, or its server away? It goes on by itself when it can", "bucket", name, "error", err)
		if h.failed == nil {
			h.failed = map[string]*Bucket{}
		}
		h.failed[name] = b
	}
}

// check has it looked after, beside the caller, whether what could not be written can
// be. The channel is closed when that is over; nil when there is nothing to look after,
// or it was done just now.
func (s *State) check() <-chan struct{} {
	h := &s.health
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.checking == nil && len(h.failed) > 0 && time.Since(h.checked) >= checkAfter && s.ctx.Err() == nil {
		h.checking = make(chan struct{})
		go s.repair()
	}
	return h.checking
}

// repair writes to the buckets that could not be written, with the time of any other
// write: what failed may have been slow. If they still cannot, and the disk has room, it
// opens the store of the embedded server anew.
func (s *State) repair() {
	h := &s.health
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		close(h.checking)
		h.checking, h.checked = nil, time.Now()
	}()
	if s.embedded == nil {
		_ = s.probe()
		return
	}
	err := s.embedded.hasRoom()
	if err == nil {
		failed := s.probe()
		if failed == nil || s.ctx.Err() != nil || !errors.Is(failed, ErrRefused) && time.Since(h.reopened) < reopenAfter {
			return
		}
		h.reopened = time.Now()
		if err = s.embedded.reopen(); err == nil {
			_ = s.probe()
		}
	}
	if err != nil {
		s.log.Error("the store was not opened anew", "error", err)
	}
}

// probe writes to each bucket that could not be written, until one still cannot.
func (s *State) probe() error {
	s.health.mu.Lock()
	failed := make([]*Bucket, 0, len(s.health.failed))
	for _, b := range s.health.failed {
		failed = append(failed, b)
	}
	s.health.mu.Unlock()
	for _, b := range failed {
		ctx, cancel := context.WithTimeout(s.ctx, answerWithin)
		ctx, ended := b.looking(ctx)
		_, err := b.kv.PutString(ctx, probeKey, "")
		err = ended(err)
		cancel()
		if s.wrote(b, err); err != nil {
			return err
		}
	}
	return nil
}

// checkedLast waits for the check that runs. None begins after ctx has ended.
func (s *State) checkedLast() {
	s.health.mu.Lock()
	checking := s.health.checking
	s.health.mu.Unlock()
	if checking != nil {
		<-checking
	}
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
