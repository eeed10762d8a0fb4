package gateway

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	readHeaderTimeout = 10 * time.Second // from the first byte to the last header
	idleTimeout       = 2 * time.Minute  // of a connection between two requests
	maxHeaderBytes    = 32 << 10
)

// Gateway serves clients. It is safe for concurrent use.
type Gateway struct {
	opts     Options
	door     *door
	handler  http.Handler
	server   *http.Server
	hub      *hub
	turns    *turns
	requests *limiter // of a token, by its name
	failures *limiter // tries with unknown tokens, by remote address
	refusals refusalLog
	ctx      context.Context // ends with the gateway
	cancel   context.CancelFunc
	closing  context.Context // ends when the gateway begins to end
	hurry    context.CancelFunc
	begun    sync.Once
	served   chan struct{}  // closed when no connection is accepted any more
	running  sync.WaitGroup // requests that are let finish when the gateway ends
	sockets  sync.WaitGroup // WebSocket clients

	mu       sync.Mutex
	ending   bool
	clients  map[*client]bool
	admitted uint64         // clients so far
	streams  map[string]int // of MCP, by the token's name
	calls    map[string]int // the other requests of MCP, likewise
	cuts     map[*cut]bool  // of requests of MCP that run
}

// Open is [New] and [Gateway.Serve].
func Open(opts Options) (*Gateway, error) {
	g, err := New(opts)
	if err == nil {
		g.Serve()
	}
	return g, err
}

// New makes a gateway that does not accept connections yet; they wait. It ends with
// [Gateway.Shutdown].
func New(opts Options) (*Gateway, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	g := &Gateway{
		opts:     opts,
		door:     newDoor(&opts),
		hub:      newHub(opts.MaySee),
		turns:    newTurns(),
		requests: newLimiter(opts.Limits.Rate, opts.Limits.Burst),
		failures: newLimiter(failRate, failBurst),
		refusals: refusalLog{logger: opts.Logger},
		served:   make(chan struct{}),
		clients:  map[*client]bool{},
		streams:  map[string]int{},
		calls:    map[string]int{},
		cuts:     map[*cut]bool{},
	}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	g.closing, g.hurry = context.WithCancel(context.Background())
	g.handler = g.routes()
	g.server = &http.Server{
		Handler:           g,
		TLSConfig:         opts.TLS,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2:             &http.HTTP2Config{WriteByteTimeout: writeTimeout}, // a stream cannot be reset over a connection that takes nothing
		BaseContext:       func(net.Listener) context.Context { return g.ctx },
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, socketKey{}, conn)
		},
		ErrorLog: log.New(troubleLog{opts.Logger}, "", 0),
	}
	go g.turns.run(g.ctx)
	return g, nil
}

// Serve begins to accept connections, once. After [Gateway.Shutdown] it accepts none.
func (g *Gateway) Serve() { g.begun.Do(func() { go g.serve() }) }

// socketKey is for the connection that a request came over.
type socketKey struct{}

// serve accepts connections until the gateway ends.
func (g *Gateway) serve() {
	defer close(g.served)
	listener := &boundedListener{Listener: g.opts.Listener, most: g.opts.Limits.MaxConnections, full: func() { g.refusals.log("too_many_connections", nil, "") }}
	var err error
	if g.opts.TLS != nil {
		err = g.server.ServeTLS(listener, "", "")
	} else {
		err = g.server.Serve(listener)
	}
	if !errors.Is(err, http.ErrServerClosed) {
		g.opts.Logger.Error("the gateway cannot accept connections any more", "error", fmt.Sprintf("%T", err))
	}
}

// troubleLog hides what net/http would log of a request.
type troubleLog struct{ logger *slog.Logger }

func (t troubleLog) Write(p []byte) (int, error) {
	t.logger.Debug("the gateway has trouble with a connection")
	return len(p), nil
}

// ServeHTTP is the way in.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	// It stays for who is refused: net/http reads the rest of a body after the answer.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(readBodyTimeout))
	_ = control.SetWriteDeadline(time.Now().Add(writeTimeout))
	if why := g.door.refuses(r); why != "" {
		g.refuse(w, r, "", why, http.StatusForbidden)
		return
	}
	g.handler.ServeHTTP(w, r)
}

// Publish tells watching clients of an event. Events reach every client in the same
// order. It waits for no client.
func (g *Gateway) Publish(e Event) error { return g.hub.publish(e) }

// DropToken ends the connections of a token, which was deleted. Its requests are
// cancelled, its streams are closed and no other is taken in, whether its clients read
// or not.
func (g *Gateway) DropToken(name string) {
	g.endClients(websocket.StatusPolicyViolation, "the token is deleted", func(c *client) bool { return c.person.Name == name })
	g.cutOff(name)
}

// endClients ends what clients ask, and tells them why they are closed.
func (g *Gateway) endClients(code websocket.StatusCode, reason string, which func(*client) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.clients {
		if which(c) {
			c.out.end(code, reason)
			c.leave()
		}
	}
}

func (g *Gateway) draining() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ending
}

// begin counts a request in; false when the gateway ends.
func (g *Gateway) begin() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ending {
		g.running.Add(1)
	}
	return !g.ending
}

// Shutdown ends the gateway gracefully: new requests are refused, those that run are
// let finish, clients are told that the server ends. When ctx ends the rest is cut, and
// its error comes back where requests were. A client that does not read what it was sent
// is cut a little earlier, which is no error. Calls after the first do nothing.
func (g *Gateway) Shutdown(ctx context.Context) error {
	g.mu.Lock()
	again := g.ending
	g.ending = true
	g.mu.Unlock()
	if again {
		return nil
	}
	g.hurry()
	err := wait(ctx, &g.running)
	g.endClients(websocket.StatusGoingAway, "the server ends", func(*client) bool { return true })
	unread := wait(ctx, &g.sockets)
	g.cancel() // streams, and whatever is cut
	reading, enough := context.WithTimeout(ctx, farewell)
	defer enough()
	if e := g.server.Shutdown(reading); e != nil {
		unread = e
		_ = g.server.Close()
	}
	if unread != nil {
		g.opts.Logger.Warn("connections were cut that did not end by themselves: their clients read too slowly, or not at all")
	}
	g.Serve() // of a gateway that never served this closes the listener
	<-g.served
	grace, stop := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer stop()
	_, _ = wait(grace, &g.sockets), wait(grace, &g.running)
	if err != nil {
		return fmt.Errorf("gateway: requests that ran were cut: %w", err)
	}
	return nil
}

// wait waits for a group, but no longer than ctx.
func wait(ctx context.Context, group *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
