package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/kandev/assent/internal/host/dispatch"
)

// serveMCP hands a call or a stream of a token on, as long as it has not too many. The
// token may be deleted while the body of a call comes, so it is looked up again once
// [Gateway.DropToken] sees the request.
func (g *Gateway) serveMCP(w http.ResponseWriter, r *http.Request, p dispatch.Person) {
	control := http.NewResponseController(w)
	stream := r.Method == http.MethodGet
	open, many := g.calls, refusedCalls
	if stream {
		open, many = g.streams, refusedClients
	}
	if !g.enter(open, p.Name) {
		g.refuseToken(w, r, p.Name, many)
		return
	}
	defer g.leave(open, p.Name)
	if !stream {
		if !g.readBody(w, r, p.Name) {
			return
		}
		if !g.begin() {
			say(w, http.StatusServiceUnavailable, serverEnds)
			return
		}
		defer g.running.Done()
	}
	ctx, done := g.cuttable(w, r, p.Name)
	defer done()
	p, why := g.identify(bearer(r.Header), r.RemoteAddr, p.Surface)
	if why != "" {
		g.refuseToken(w, r, p.Name, why)
		return
	}
	_ = control.SetReadDeadline(time.Time{})
	defer func() { _ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) }() // of what is still to be sent
	if stream {
		_ = control.SetWriteDeadline(time.Time{})
		w = piecewise{w, control}
	} else {
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout))
	}
	g.opts.MCP.ServeHTTP(w, r.WithContext(context.WithValue(ctx, personKey{}, p)))
}

const serverEnds = "the server ends"

// readBody reads the whole body, so that a client cannot keep the MCP server waiting by
// sending it slowly, nor the end of the gateway; false when it is refused.
func (g *Gateway) readBody(w http.ResponseWriter, r *http.Request, token string) bool {
	control := http.NewResponseController(w)
	defer whenEnds(g.ctx, func() { _ = control.SetReadDeadline(time.Unix(1, 0)) })()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(g.opts.Limits.MaxMessage)))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		g.refuse(w, r, token, "body_too_large", http.StatusRequestEntityTooLarge)
		return false
	} else if err != nil && g.ctx.Err() != nil {
		say(w, http.StatusServiceUnavailable, serverEnds)
		return false
	} else if err != nil {
		say(w, http.StatusBadRequest, "the body could not be read")
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return true
}

// enter counts a call or a stream of MCP in; false when its token has too many.
func (g *Gateway) enter(open map[string]int, name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if open[name] >= maxOfToken {
		return false
	}
	open[name]++
	return true
}

func (g *Gateway) leave(open map[string]int, name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if open[name]--; open[name] == 0 {
		delete(open, name)
	}
}

// piecewise is a stream, which may last as long as it likes: each piece has to be read
// within [writeTimeout].
type piecewise struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Write sends what is larger than the buffer at once.
func (p piecewise) Write(b []byte) (int, error) {
	defer p.within()()
	return p.ResponseWriter.Write(b)
}

// FlushError is how [http.ResponseController] flushes.
func (p piecewise) FlushError() error {
	defer p.within()()
	return p.control.Flush()
}

// Unwrap is how it does the rest.
func (p piecewise) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// within sets the deadline of one piece, and gives what takes it away: with HTTP/2 it
// would end a stream that has nothing to say.
func (p piecewise) within() func() {
	_ = p.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	return func() { _ = p.control.SetWriteDeadline(time.Time{}) }
}
