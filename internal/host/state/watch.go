package state

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// ChangeKind says what a change is.
type ChangeKind uint8

const (
	// Current: everything that was stored when the watch began has been told.
	// The zero value; it comes once, without an entry.
	Current ChangeKind = iota
	// Put: the entry was written.
	Put
	// Deleted: the entry with this key is gone. It has no value.
	Deleted
)

// Change is one message of a watch.
type Change struct {
	Kind  ChangeKind
	Entry Entry
}

// Watch tells what is stored, then [Current], then every change, for each key in
// the order of its revisions. Several changes of one key can be told as the last
// one. The channel is closed when ctx ends or the store is closed, and has to be
// read until then: a reader who stops reading keeps [State.Close] waiting.
func (b *Bucket) Watch(ctx context.Context) (<-chan Change, error) {
	ctx, cancel := context.WithCancel(ctx)
	unlink := context.AfterFunc(b.state.ctx, cancel)
	w, err := b.kv.WatchAll(ctx)
	if err != nil {
		cancel()
		return nil, failure(err)
	}
	changes := make(chan Change, 64)
	b.state.watching.Go(func() {
		defer close(changes)
		defer cancel()
		defer unlink()
		forward(ctx, w, changes)
	})
	return changes, nil
}

// forward ends when ctx does or the watcher was closed.
func forward(ctx context.Context, w jetstream.KeyWatcher, changes chan<- Change) {
	defer drain(w)
	for {
		select {
		case <-ctx.Done():
			return
		case entry, ok := <-w.Updates():
			if !ok {
				return
			}
			c, ok := change(entry)
			if !ok {
				continue
			}
			select {
			case changes <- c:
			case <-ctx.Done():
				return
			}
		}
	}
}

// change reads an update; false: somebody else's key, which is none of ours.
func change(entry jetstream.KeyValueEntry) (Change, bool) {
	if entry == nil {
		return Change{Kind: Current}, true
	}
	key, ok := decodeKey(entry.Key())
	c := Change{Kind: Put, Entry: Entry{Key: key, Value: entry.Value(), Revision: entry.Revision()}}
	if entry.Operation() != jetstream.KeyValuePut {
		c = Change{Kind: Deleted, Entry: Entry{Key: key, Revision: entry.Revision()}}
	}
	return c, ok
}

// drain ends the watcher: its callback could be waiting for a reader.
func drain(w jetstream.KeyWatcher) {
	if w.Stop() != nil {
		return // the connection is closed, and with it the subscription
	}
	late := time.NewTimer(answerWithin)
	defer late.Stop()
	for {
		select {
		case _, ok := <-w.Updates():
			if !ok {
				return
			}
		case <-late.C:
			return
		}
	}
}
