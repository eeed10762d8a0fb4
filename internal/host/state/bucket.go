package state

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// MaxValue is how long a value may be, in bytes. A NATS server takes a megabyte.
const MaxValue = 512 << 10

// prefix of the names of buckets, for those who look into a shared cluster.
const prefix = "assent_"

// Bucket is a set of keys with one value each.
type Bucket struct {
	state *State
	kv    jetstream.KeyValue
}

// Entry is the value of a key.
type Entry struct {
	Key      string
	Value    []byte
	Revision uint64
}

// Bucket opens a bucket and makes it when it is missing. On a cluster it is made
// with one replica; whoever wants more makes "assent_<name>" beforehand. A bucket
// that would forget what was written is refused.
func (s *State) Bucket(ctx context.Context, name string) (*Bucket, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	kv, err := s.js.KeyValue(ctx, prefix+name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = s.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: prefix + name, Description: "state of assent serve", Storage: jetstream.FileStorage,
		})
	}
	if errors.Is(err, jetstream.ErrBucketExists) { // another server was faster
		kv, err = s.js.KeyValue(ctx, prefix+name)
	}
	if err != nil {
		return nil, fmt.Errorf("state: bucket %q: %w", prefix+name, failure(err))
	}
	status, err := kv.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("state: bucket %q: %w", prefix+name, failure(err))
	}
	if status.TTL() != 0 || status.Config().Storage != jetstream.FileStorage {
		return nil, fmt.Errorf("state: bucket %q keeps its entries in memory or for a limited time: delete it, or make it with file storage and without a TTL", prefix+name)
	}
	return &Bucket{state: s, kv: kv}, nil
}

// Get reads an entry. Errors: [ErrNotFound], [ErrInvalidKey], [ErrUnavailable].
func (b *Bucket) Get(ctx context.Context, key string) (Entry, error) {
	encoded, err := encodeKey(key)
	if err != nil {
		return Entry{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	got, err := b.kv.Get(ctx, encoded)
	if err != nil {
		return Entry{}, failure(err)
	}
	return Entry{Key: key, Value: got.Value(), Revision: got.Revision()}, nil
}

// Create writes an entry that is not there; [ErrConflict] when it is.
func (b *Bucket) Create(ctx context.Context, key string, value []byte) (revision uint64, err error) {
	return b.write(ctx, key, value, func(ctx context.Context, encoded string) (uint64, error) {
		return b.kv.Create(ctx, encoded, value)
	})
}

// Update writes an entry whose last revision is the given one; else [ErrConflict].
func (b *Bucket) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	return b.write(ctx, key, value, func(ctx context.Context, encoded string) (uint64, error) {
		return b.kv.Update(ctx, encoded, value, revision)
	})
}

func (b *Bucket) write(ctx context.Context, key string, value []byte, put func(context.Context, string) (uint64, error)) (uint64, error) {
	encoded, err := encodeKey(key)
	if err != nil {
		return 0, err
	}
	if len(value) > MaxValue {
		return 0, ErrTooLarge
	}
	ctx, cancel := b.state.writing(ctx)
	defer cancel()
	ctx, ended := b.looking(ctx)
	revision, err := put(ctx, encoded)
	err = ended(err)
	b.state.wrote(b, err)
	return revision, err
}

// Delete removes an entry whose last revision is the given one; else
// [ErrConflict], also when it is gone already.
func (b *Bucket) Delete(ctx context.Context, key string, revision uint64) error {
	encoded, err := encodeKey(key)
	if err != nil {
		return err
	}
	ctx, cancel := b.state.writing(ctx)
	defer cancel()
	ctx, ended := b.looking(ctx)
	err = ended(b.kv.Purge(ctx, encoded, jetstream.LastRevision(revision)))
	b.state.wrote(b, err)
	return err
}

// All reads every entry, in no order.
func (b *Bucket) All(ctx context.Context) ([]Entry, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes, err := b.Watch(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		cancel()
		for range changes { // until nothing of it is left
		}
	}()
	entries := []Entry{}
	for c := range changes {
		switch c.Kind {
		case Put:
			entries = append(entries, c.Entry)
		case Current:
			return entries, nil
		}
	}
	return nil, failure(errors.Join(ctx.Err(), nats.ErrConnectionClosed))
}
