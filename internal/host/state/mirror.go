package state

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// Mirror is a bucket that is watched and written through one place, so that its
// user can keep the values in memory: own writes and those of others are told
// once each, in the order of their revisions.
type Mirror struct {
	bucket *Bucket
	apply  func(Change)
	cancel context.CancelFunc
	done   chan struct{}

	mu   sync.Mutex
	last map[string]seen // by key; a deletion stays until the watch has come to it
	// passed is the newest revision that the watch has told, which tells all of a bucket
	// in their order: what is older and not in last was told, or is deleted.
	passed uint64
}

// seen is the newest of a key that was told.
type seen struct {
	revision uint64
	deleted  bool
}

// Mirror tells apply what is stored, then every change, and returns when the
// first part is done. Calls come one at a time and must not use the mirror. What
// another process writes is told a moment later; [Mirror.Refresh] does not wait.
func (b *Bucket) Mirror(ctx context.Context, apply func(Change)) (*Mirror, error) {
	watchCtx, cancel := context.WithCancel(b.state.ctx)
	changes, err := b.Watch(watchCtx)
	if err != nil {
		cancel()
		return nil, err
	}
	m := &Mirror{bucket: b, apply: apply, cancel: cancel, done: make(chan struct{}), last: map[string]seen{}}
	current := make(chan struct{})
	go func() {
		defer close(m.done)
		for c := range changes {
			if c.Kind == Current {
				close(current)
				continue
			}
			m.watched(c)
		}
	}()
	late, stop := context.WithTimeout(ctx, b.state.readWithin())
	defer stop()
	select {
	case <-current:
		return m, nil
	case <-m.done:
		err = errors.New("state: the store was closed")
	case <-late.Done():
		err = failure(late.Err())
		if e := b.state.embedded; e != nil && ctx.Err() == nil {
			err = fmt.Errorf("state: the store in %q was not read within %v: is the disk slow?", filepath.Join(e.dir, storeFolder), e.within)
		}
	}
	m.Close()
	return nil, err
}

// readWithin is how long all of a bucket may take to be read. The embedded server reads
// from the disk of this machine, and has done so before.
func (s *State) readWithin() time.Duration {
	if s.embedded != nil {
		return s.embedded.within
	}
	return readyWithin
}

// watched takes what the watch tells. After a deletion it tells nothing older of the key.
func (m *Mirror) watched(c Change) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tell(c)
	m.passed = max(m.passed, c.Entry.Revision)
	if m.last[c.Entry.Key].deleted && m.last[c.Entry.Key].revision <= m.passed {
		delete(m.last, c.Entry.Key)
	}
}

// tell passes a change on unless a newer one of its key was told. The lock is held.
func (m *Mirror) tell(c Change) {
	last, known := m.last[c.Entry.Key]
	if known && c.Entry.Revision <= last.revision || !known && c.Entry.Revision <= m.passed {
		return
	}
	m.last[c.Entry.Key] = seen{c.Entry.Revision, c.Kind == Deleted}
	if c.Kind == Deleted && (!known || last.deleted) {
		return // it was told, or there was nothing
	}
	m.apply(c)
}

// Create is [Bucket.Create]; apply is told before it returns.
func (m *Mirror) Create(ctx context.Context, key string, value []byte) error {
	revision, err := m.bucket.Create(ctx, key, value)
	return m.wrote(Entry{key, value, revision}, err)
}

// Update is [Bucket.Update]; apply is told before it returns.
func (m *Mirror) Update(ctx context.Context, key string, value []byte, revision uint64) error {
	revision, err := m.bucket.Update(ctx, key, value, revision)
	return m.wrote(Entry{key, value, revision}, err)
}

func (m *Mirror) wrote(e Entry, err error) error {
	if err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.tell(Change{Kind: Put, Entry: e})
	}
	return err
}

// Delete is [Bucket.Delete]; apply is told before it returns.
func (m *Mirror) Delete(ctx context.Context, key string, revision uint64) error {
	if err := m.bucket.Delete(ctx, key, revision); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	// The revision of the deletion is not known here, but nothing lies between.
	if last := m.last[key]; last.revision == revision && !last.deleted {
		m.last[key] = seen{revision, true}
		m.apply(Change{Kind: Deleted, Entry: Entry{Key: key, Revision: revision}})
	}
	return nil
}

// Refresh reads a key and tells apply if there is something new. It is for after
// [ErrConflict]. After [ErrNotFound] the watch tells of the deletion.
func (m *Mirror) Refresh(ctx context.Context, key string) error {
	e, err := m.bucket.Get(ctx, key)
	return m.wrote(e, err)
}

// Close ends the watch and waits until apply is not called any more, except by
// writes that are still under way.
func (m *Mirror) Close() {
	m.cancel()
	<-m.done
}
