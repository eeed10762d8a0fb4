package state

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// lookEvery is from one look at the embedded server to the next while a write waits.
const lookEvery = 100 * time.Millisecond

// ErrRefused: the disk of the embedded server did not take what was written. It is an
// [ErrUnavailable], too: a part of it may be there.
var ErrRefused = errors.New("state: the disk refuses what is written: is it full?")

// looking is for a write to the embedded server, which answers none that its disk
// refuses, but knows of it: the context ends then, instead of after a long time. Ended,
// which has to be called, gives the error of the write.
func (b *Bucket) looking(ctx context.Context) (_ context.Context, ended func(error) error) {
	if b.state.embedded == nil {
		return ctx, failure
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	go look(ctx, func() bool { return b.state.embedded.refuses(b.kv.Bucket()) }, giveUp)
	return ctx, func(err error) error {
		if refused := context.Cause(ctx); err != nil && errors.Is(refused, ErrRefused) {
			err = refused
		}
		giveUp(nil)
		return failure(err)
	}
}

// look gives a write up once the server refuses what is written, until ctx ends.
func look(ctx context.Context, refuses func() bool, giveUp context.CancelCauseFunc) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		if refuses() {
			giveUp(ErrRefused)
			return
		}
	}
}

// refuses says whether the server could not store something in a bucket since its store
// was opened: it takes nothing more there.
func (e *embedded) refuses(bucket string) bool {
	h := e.server.Healthz(&server.HealthzOptions{Account: server.DEFAULT_GLOBAL_ACCOUNT, Stream: "KV_" + bucket, Details: true})
	return slices.ContainsFunc(h.Errors, func(err server.HealthzError) bool { return err.Type == server.HealthzErrorStream })
}
