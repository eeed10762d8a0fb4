package task

import (
	"context"
	"sync"
)

// gates let one caller at a time deal with the agent of a task: a stop comes
// before a prompt or after it, never in between.
type gates struct {
	mu   sync.Mutex
	held map[ID]*gate
}

type gate struct {
	token chan struct{} // holds one value while it is taken
	users int           // that have it or wait for it
}

// enter waits for the gate of a task. An error is that of ctx.
func (g *gates) enter(ctx context.Context, id ID) (leave func(), err error) {
	g.mu.Lock()
	gt := g.held[id]
	if gt == nil {
		gt = &gate{token: make(chan struct{}, 1)}
		g.held[id] = gt
	}
	gt.users++
	g.mu.Unlock()
	done := func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if gt.users--; gt.users == 0 {
			delete(g.held, id)
		}
	}
	select {
	case gt.token <- struct{}{}:
		return func() { <-gt.token; done() }, nil
	case <-ctx.Done():
		done()
		return nil, ctx.Err()
	}
}
