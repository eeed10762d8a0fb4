package gateway

import "context"

// cut ends a request of MCP whose token is deleted.
type cut struct {
	name string // of the token
	end  context.CancelFunc
}

// cuttable is a context that [Gateway.DropToken] ends, for a request of a token, until
// done is called.
func (g *Gateway) cuttable(ctx context.Context, name string) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	c := &cut{name, cancel}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cuts[c] = true
	return ctx, func() {
		cancel()
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.cuts, c)
	}
}

// cutOff ends the requests of a token.
func (g *Gateway) cutOff(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.cuts {
		if c.name == name {
			c.end()
		}
	}
}
