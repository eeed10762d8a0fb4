package serve

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/state"
)

// readiness asks the store whether it answers and can be written, and the audit whether
// it is, at most once a second.
type readiness struct {
	state  *state.State
	bucket *state.Bucket
	audit  *audit.Log

	mu    sync.Mutex
	asked time.Time
	err   error
}

// Errors that hold nothing of what is wrong: everybody may ask.
var (
	errNotReady    = errors.New("the store does not answer")
	errNotWritable = errors.New("the store cannot be written")
	errNoAudit     = errors.New("the audit cannot be written")
)

func (r *readiness) check() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.asked) >= time.Second {
		r.err = r.ask()
		r.asked = time.Now()
	}
	return r.err
}

func (r *readiness) ask() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if r.state.Writable(ctx) != nil {
		return errNotWritable
	}
	if _, err := r.bucket.Get(ctx, firstToken); err != nil && !errors.Is(err, state.ErrNotFound) {
		return errNotReady
	}
	if r.audit.Err() != nil {
		return errNoAudit
	}
	return nil
}
