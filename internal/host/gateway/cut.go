package gateway

import (
	"context"
	"net"
	"net/http"
	"time"
)

// cut ends a request of MCP whose token is deleted.
type cut struct {
	name string // of the token
	end  context.CancelFunc
}

// cuttable is a context that [Gateway.DropToken] ends, for a request of a token, until
// done is called. A stream is closed with it, whether its handler comes to an end or not;
// the answer of a call is cut where its client does not read it.
func (g *Gateway) cuttable(to *piecewise, r *http.Request, name string) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(r.Context())
	dropped, drop := context.WithCancel(context.Background())
	end := to.hurry
	if r.Method == http.MethodGet {
		end = func() { closeStream(to, r) }
	}
	keep := whenEnds(dropped, end)
	c := &cut{name, func() { cancel(); drop() }}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cuts[c] = true
	return ctx, func() {
		keep()
		c.end()
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.cuts, c)
	}
}

// whenEnds does something when ctx ends, until stop is called, which waits for it if it
// has begun: after its handler a response may not be touched, which with HTTP/2 is a panic.
func whenEnds(ctx context.Context, f func()) (stop func()) {
	done := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() { defer close(done); f() })
	return func() {
		if !cancel() {
			<-done
		}
	}
}

// closeStream closes what a stream is sent over. Of HTTP/2 that is the stream alone,
// which the deadline resets: the connection can be of others too.
func closeStream(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0))
	if socket, ok := r.Context().Value(socketKey{}).(net.Conn); ok && r.ProtoMajor == 1 {
		_ = socket.Close()
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
