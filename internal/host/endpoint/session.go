package endpoint

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const secretBytes = 32 // 256 bits

// SessionID names a session of an endpoint. It is unique in the process, not
// secret, and can be logged.
type SessionID string

// sessionCount makes ids; they mean nothing but "this one".
var sessionCount atomic.Uint64

// Session is the right of one agent session to use the endpoint: one secret.
type Session struct {
	id     SessionID
	secret string
	// An MCP server and handlers of its own: what was begun with another
	// session's secret does not exist here.
	streamable, sse http.Handler
	ctx             context.Context // ends with the session
	cancel          context.CancelFunc

	server *mcp.Server

	// With an upstream only.
	stateful http.Handler
	shared   *link
	listing  listing
	mu       sync.Mutex
	links    []*link // of MCP sessions over streamable HTTP, the last used one last
	failed   string  // what the target failed with, as it was logged; empty once it has answered
}

// NewSession makes a session with a random secret. It fails with [ErrClosed] only.
func (e *Endpoint) NewSession() (*Session, error) {
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	s := &Session{
		id:     SessionID(strconv.FormatUint(sessionCount.Add(1), 10)),
		secret: base64.RawURLEncoding.EncodeToString(raw),
	}
	s.ctx, s.cancel = context.WithCancel(e.ctx)
	if e.opts.Upstream != nil {
		s.server, s.shared = e.newFront(s), e.newLink(s, true)
	} else {
		s.server = e.newServer(s)
	}
	get := func(*http.Request) *mcp.Server { return s.server }
	s.streamable = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true, MaxRequestBodyBytes: e.opts.MaxBody})
	s.stateful = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{MaxRequestBodyBytes: e.opts.MaxBody})
	s.sse = mcp.NewSSEHandler(get, &mcp.SSEOptions{MaxRequestBodyBytes: e.opts.MaxBody})

	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		s.cancel()
		return nil, ErrClosed
	}
	e.sessions[sha256.Sum256([]byte(s.secret))] = s
	if e.opts.Upstream != nil {
		e.running.Go(s.endFront)
	}
	return s, nil
}

// Revoke ends a session: its streams end and its secret is unknown from now on.
// A session that is unknown already is no error.
func (e *Endpoint) Revoke(s *Session) {
	e.mu.Lock()
	delete(e.sessions, sha256.Sum256([]byte(s.secret)))
	e.mu.Unlock()
	s.cancel()
}

// find gives the session of a secret. Looking up a digest tells nothing about
// the secret by its timing, and what was found is compared in constant time.
func (e *Endpoint) find(secret string) *Session {
	digest := sha256.Sum256([]byte(secret))
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.sessions[digest]
	if s == nil || subtle.ConstantTimeCompare([]byte(s.secret), []byte(secret)) != 1 {
		return nil
	}
	return s
}

// ID names the session.
func (s *Session) ID() SessionID { return s.id }

// Authorization is the value of the Authorization header with the session's
// secret. It is a secret.
func (s *Session) Authorization() string { return "Bearer " + s.secret }

// Format prints the session's id alone, whatever the verb.
func (s *Session) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "endpoint session %s", s.id) }

// LogValue is the session's id.
func (s *Session) LogValue() slog.Value { return slog.StringValue(string(s.id)) }

// bearer takes the secret out of an Authorization header (RFC 6750): exactly
// one header, the scheme in any case, one space. What is not so is no secret: "".
func bearer(h http.Header) string {
	values := h.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, secret, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return secret
}
