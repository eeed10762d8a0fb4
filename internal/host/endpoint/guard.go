package endpoint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// loopbackHosts are the Host headers of a request to a port of this machine.
// Any other name is that of a web page whose name was bound to the loopback
// (DNS rebinding).
func loopbackHosts(port int) []string {
	p := strconv.Itoa(port)
	hosts := []string{"localhost:" + p, "127.0.0.1:" + p, "[::1]:" + p}
	if port == 80 { // clients leave the default port out
		hosts = append(hosts, "localhost", "127.0.0.1", "[::1]")
	}
	return hosts
}

// Why a request was refused. The names are logged; nothing of the request is.
const (
	refusedHost   = "host_not_loopback"
	refusedOrigin = "origin_not_own"
	refusedSecret = "secret_missing_or_unknown"
	refusedBody   = "body_too_large"
)

// ServeHTTP is the way in: it checks Host, Origin and secret, reads the body
// within its bounds, and hands the request to the session's own handlers.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !e.begin() {
		http.Error(w, "closed", http.StatusServiceUnavailable)
		return
	}
	defer e.running.Done()
	control := http.NewResponseController(w)
	// It stays for who is refused: net/http reads the rest of a body after the answer.
	_ = control.SetReadDeadline(time.Now().Add(readBodyTimeout))
	if !e.hosts[r.Host] {
		e.refuse(w, refusedHost, http.StatusForbidden)
		return
	}
	if origins := r.Header.Values("Origin"); len(origins) > 1 || len(origins) == 1 && !e.origins[origins[0]] {
		e.refuse(w, refusedOrigin, http.StatusForbidden)
		return
	}
	s := e.find(bearer(r.Header))
	if s == nil {
		w.Header().Set("WWW-Authenticate", "Bearer")
		e.refuse(w, refusedSecret, http.StatusUnauthorized)
		return
	}
	var body []byte
	if r.Method != http.MethodGet {
		var ok bool
		if body, ok = e.readBody(w, r); !ok {
			return
		}
	}
	_ = control.SetReadDeadline(time.Time{})
	e.dispatch(w, r, s, body)
}

// dispatch lets the request end with its session.
func (e *Endpoint) dispatch(w http.ResponseWriter, r *http.Request, s *Session, body []byte) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	r = r.WithContext(ctx)
	known := r.URL.Path == "/mcp" || r.URL.Path == "/sse"
	switch {
	case known && e.opts.Upstream != nil:
		e.serveFront(w, r, s, body)
	case r.URL.Path == "/mcp":
		s.streamable.ServeHTTP(w, lasting(r))
	case r.URL.Path == "/sse":
		s.sse.ServeHTTP(w, lasting(r))
	default:
		http.Error(w, "not found: the MCP server is at /mcp and /sse", http.StatusNotFound)
	}
}

// lasting makes a request known to the tools that it calls: they end with it. The MCP
// SDK takes the end off the context, but not its values. Of SSE it is the request that
// holds the stream open.
func lasting(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), requestKey{}, r.Context()))
}

// readBody reads the whole body at once, so that a client cannot hold a request
// open by sending it slowly.
func (e *Endpoint) readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, e.opts.MaxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		e.refuse(w, refusedBody, http.StatusRequestEntityTooLarge)
		return nil, false
	case err != nil:
		http.Error(w, "the body could not be read", http.StatusBadRequest)
		return nil, false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, true
}

func (e *Endpoint) refuse(w http.ResponseWriter, reason string, status int) {
	e.refusals.log(e.logger, reason, status)
	http.Error(w, reason, status)
}

// refusalLog logs the first refusal of each reason as a warning and the others
// at debug level: any web page can cause as many as it likes.
type refusalLog struct{ seen sync.Map }

func (l *refusalLog) log(logger *slog.Logger, reason string, status int) {
	level := slog.LevelDebug
	if _, again := l.seen.LoadOrStore(reason, true); !again {
		level = slog.LevelWarn
	}
	logger.Log(context.Background(), level, "the MCP endpoint refused a request", "reason", reason, "status", status)
}
