package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/kandev/assent/internal/host/dispatch"
)

// serveMCP hands a call or a stream of a token on, as long as it has not too many. The
// token may be deleted while the body of a call comes, so it is looked up again once
// [Gateway.DropToken] sees the request.
func (g *Gateway) serveMCP(w http.ResponseWriter, r *http.Request, p dispatch.Person) {
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
	to := &piecewise{ResponseWriter: w, control: http.NewResponseController(w)}
	if !stream {
		if !g.readBody(w, r, p.Name) {
			return
		}
		if !g.begin() {
			say(w, http.StatusServiceUnavailable, serverEnds)
			return
		}
		to.begun = sync.OnceFunc(g.running.Done)
		defer to.begun()
	}
	defer to.finish()
	defer whenEnds(g.closing, to.hurry)()
	ctx, done := g.cuttable(to, r, p.Name)
	defer done()
	p, why := g.identify(bearer(r.Header), r.RemoteAddr, p.Surface)
	if why != "" {
		g.refuseToken(w, r, p.Name, why)
		return
	}
	_ = to.control.SetReadDeadline(time.Time{})
	_ = to.control.SetWriteDeadline(time.Time{})
	g.opts.MCP.ServeHTTP(to, r.WithContext(context.WithValue(ctx, personKey{}, p)))
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
