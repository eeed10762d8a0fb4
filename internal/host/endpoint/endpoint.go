package endpoint

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	readHeaderTimeout = 10 * time.Second // from the first byte to the last header
	readBodyTimeout   = 30 * time.Second // from the headers to the last byte of the body
	idleTimeout       = 2 * time.Minute  // of a connection between two requests
	closeTimeout      = 5 * time.Second  // for requests to end after they were cancelled
	maxHeaderBytes    = 32 << 10
	// DefaultMaxBody is the largest request body in bytes.
	DefaultMaxBody = 1 << 20
)

// Options say what an endpoint is.
type Options struct {
	// Version of the host, shown to MCP clients.
	Version string
	// Port is the wanted port; 0 for any. When it is taken on either loopback,
	// or was used in this run, another one is chosen and logged: ask
	// [Endpoint.Port].
	Port int
	// Tools are offered to every session; nil means [TaskTools] of a new list.
	Tools []Tool
	// Upstream is the server to stand in front of, instead of Tools; nil for none.
	Upstream *Upstream
	// Observer is told what arrives; nil for nobody.
	Observer Observer
	// Logger for refused requests and troubles; nil for none.
	Logger *slog.Logger
	// MaxBody is the largest request body in bytes; 0 means [DefaultMaxBody], with
	// an upstream [DefaultUpstreamMaxBody].
	MaxBody int64
}

// Endpoint is the MCP server of one agent instance. It is safe for concurrent use.
type Endpoint struct {
	port     int
	hosts    map[string]bool // acceptable Host headers
	origins  map[string]bool // acceptable Origin headers
	opts     Options
	logger   *slog.Logger
	schemas  *mcp.SchemaCache
	server   *http.Server
	ctx      context.Context // ends with the endpoint
	cancel   context.CancelFunc
	running  sync.WaitGroup // accept loops and requests
	refusals refusalLog

	mu       sync.Mutex
	closed   bool
	sessions map[[sha256.Size]byte]*Session // by the digest of the secret
}

// Open starts an endpoint. It ends with [Endpoint.Close] alone, not with ctx:
// ctx only bounds the opening.
func Open(ctx context.Context, opts Options) (*Endpoint, error) {
	if err := opts.checkOffer(); err != nil {
		return nil, err
	}
	if opts.Port < 0 || opts.Port > 65535 {
		return nil, fmt.Errorf("endpoint: port %d: use 1 to 65535, or 0 for any", opts.Port)
	}
	if opts.MaxBody <= 0 {
		opts.MaxBody = DefaultMaxBody
		if opts.Upstream != nil {
			opts.MaxBody = DefaultUpstreamMaxBody
		}
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	bound, err := newBinder().bind(ctx, opts.Port)
	if err != nil {
		return nil, err
	}
	if opts.Port != 0 && bound.port != opts.Port {
		opts.Logger.Warn("the wanted port of the MCP endpoint is taken, another one is used", "wanted", opts.Port, "port", bound.port)
	}
	if opts.Upstream != nil {
		if err := opts.Upstream.check(); err != nil {
			bound.close()
			usedPorts.close(bound.port)
			return nil, err
		}
	}
	e := newEndpoint(opts, bound.port)
	for _, l := range bound.listeners {
		e.running.Go(func() { e.serve(l) })
	}
	return e, nil
}

// checkOffer refuses what cannot be offered.
func (o *Options) checkOffer() error {
	if o.Upstream != nil {
		if len(o.Tools) > 0 {
			return errors.New("endpoint: tools and an upstream: an endpoint has one or the other")
		}
		return nil
	}
	if o.Tools == nil {
		o.Tools = TaskTools(NewTaskList())
	}
	return checkTools(o.Tools)
}

func newEndpoint(opts Options, port int) *Endpoint {
	e := &Endpoint{
		port:     port,
		hosts:    map[string]bool{},
		origins:  map[string]bool{},
		opts:     opts,
		logger:   opts.Logger.With("port", port),
		schemas:  mcp.NewSchemaCache(),
		sessions: map[[sha256.Size]byte]*Session{},
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	for _, host := range loopbackHosts(port) {
		e.hosts[host] = true
		e.origins["http://"+host] = true
	}
	e.server = &http.Server{
		Handler:           e,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		BaseContext:       func(net.Listener) context.Context { return e.ctx },
		ErrorLog:          log.New(troubleLog{e.logger}, "", 0),
	}
	return e
}

// serve accepts connections until the endpoint is closed.
func (e *Endpoint) serve(l net.Listener) {
	if err := e.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		e.logger.Error("the MCP endpoint stopped listening", "address", l.Addr().String())
	}
}

// Port is where the endpoint listens, on every loopback of the machine.
func (e *Endpoint) Port() int { return e.port }

// ErrClosed says that the endpoint was closed.
var ErrClosed = errors.New("endpoint: closed")

// Close ends every session and request and frees the port, which no other
// endpoint of this run will use. It is idempotent. It waits for running tools,
// whose context has ended, but not longer than a few seconds.
func (e *Endpoint) Close() error {
	e.mu.Lock()
	e.closed = true
	clear(e.sessions)
	e.mu.Unlock()
	e.cancel()
	err := e.server.Close()
	usedPorts.close(e.port)
	done := make(chan struct{})
	go func() { e.running.Wait(); close(done) }()
	select {
	case <-done:
		return err
	case <-time.After(closeTimeout):
		return errors.Join(err, errors.New("endpoint: a tool did not end when its context ended"))
	}
}

// begin counts a request that [Endpoint.Close] has to wait for.
func (e *Endpoint) begin() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.running.Add(1)
	return true
}

// troubleLog passes on what net/http reports, up to the second colon: the rest
// can quote a request, and the value of a panic can be anything.
type troubleLog struct{ logger *slog.Logger }

func (t troubleLog) Write(line []byte) (int, error) {
	parts := strings.SplitN(string(line), ":", 3)
	t.logger.Warn("the HTTP server of the MCP endpoint reported a trouble", "what", strings.Join(parts[:min(len(parts), 2)], ":"))
	return len(line), nil
}

var _ io.Writer = troubleLog{}
