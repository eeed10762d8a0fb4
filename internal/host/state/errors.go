package state

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Errors of buckets, for [errors.Is].
var (
	// ErrNotFound: there is no such key.
	ErrNotFound = errors.New("state: no such key")
	// ErrConflict: the key has another revision than the one that was named, or
	// is there already; read it again. Nothing was written.
	ErrConflict = errors.New("state: somebody else has written to this key: read it again")
	// ErrInvalidKey: the key is empty or longer than [MaxKey].
	ErrInvalidKey = fmt.Errorf("state: a key has 1 to %d bytes", MaxKey)
	// ErrTooLarge: the value is longer than [MaxValue]. Nothing was written.
	ErrTooLarge = fmt.Errorf("state: a value has at most %d bytes", MaxValue)
	// ErrUnavailable: the store did not answer. A write may have happened or not.
	ErrUnavailable = errors.New("state: the store does not answer: read the entry again to learn whether it was written")
)

// failure turns an error of the library into one of this package. The library's
// error names no key and no value.
func failure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrKeyNotFound), errors.Is(err, jetstream.ErrKeyDeleted):
		return ErrNotFound
	case errors.Is(err, jetstream.ErrKeyRevisionMismatch), errors.Is(err, jetstream.ErrKeyExists):
		return ErrConflict
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%w (%w)", ErrUnavailable, context.Canceled)
	}
	return fmt.Errorf("%w (%w)", ErrUnavailable, err)
}
