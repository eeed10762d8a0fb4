package upstream

//lint:file-ignore SA1019 agents and servers go on using what MCP 2026-07-28 deprecates

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// Modern is the first version of MCP without initialize.
	Modern = "2026-07-28"
	// handshake is the newest version with it. It is tried first: what a server
	// asks of its client can then be handed on.
	handshake = "2025-11-25"

	openTimeout = 30 * time.Second
	// DefaultMaxMessage is the largest message of a target in bytes.
	DefaultMaxMessage = 64 << 20
)

// Handler takes what the target sends on its own.
type Handler interface {
	// Notification is told of notifications in their order. While it runs no
	// answer of the target is delivered.
	Notification(ctx context.Context, method string, params json.RawMessage)
	// Request answers a request of the target. Its error may be a [*jsonrpc.Error].
	Request(ctx context.Context, method string, params json.RawMessage) (any, error)
}

// Options say how to speak to a target.
type Options struct {
	// Version of the host, told to the target.
	Version string
	// Capabilities of the client, as MCP writes them; nil for none.
	Capabilities map[string]any
	// Handler takes what the target sends on its own.
	Handler Handler
	// Stderr gets what a program writes there, line by line after Name; nil for
	// nowhere.
	Stderr io.Writer
	Name   string
	// MaxMessage is the largest message of the target in bytes; 0 means
	// [DefaultMaxMessage].
	MaxMessage int64
}

// Server is what the target says of itself.
type Server struct {
	Version      string                  `json:"protocolVersion"`
	Capabilities *mcp.ServerCapabilities `json:"capabilities"`
	Info         *mcp.Implementation     `json:"serverInfo"`
	Instructions string                  `json:"instructions"`
}

// Client is one session with a target. It is safe for concurrent use.
type Client struct {
	options  Options
	peer     *peer
	web      *web // nil for a program
	server   Server
	watching sync.WaitGroup
	level    atomic.Value // of log messages, a string; for a target without handshake
}

// valueless is the context of a caller without its values. The SDK keeps in them
// which version of MCP its peer speaks, and a transport of the SDK that finds a
// version there sends it on: that of the agent, in a request to the target.
type valueless struct{ context.Context }

// Value implements [context.Context].
func (valueless) Value(any) any { return nil }

// Open begins a session. The error is a [*Failure], or the error that the target
// answered with.
func Open(ctx context.Context, t Target, o Options) (*Client, error) {
	if o.MaxMessage <= 0 {
		o.MaxMessage = DefaultMaxMessage
	}
	ctx, cancel := context.WithTimeout(valueless{ctx}, openTimeout)
	defer cancel()
	if len(t.Command) > 0 {
		return open(ctx, o, nil, func(context.Context) (mcp.Connection, error) { return startProgram(t, o) })
	}
	w, err := newWeb(t, o.MaxMessage)
	if err != nil {
		return nil, err
	}
	size := int(o.MaxMessage)
	streamable := &mcp.StreamableClientTransport{Endpoint: t.URL, HTTPClient: w.client(), MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: size}
	c, err := open(ctx, o, w, streamable.Connect)
	// Older servers speak HTTP with SSE alone (MCP 2025-06-18, Transports,
	// "Backwards Compatibility").
	if older := w.status.Load(); err != nil && answered(err) == nil && ctx.Err() == nil && slices.Contains([]int32{400, 404, 405}, older) {
		sse := &mcp.SSEClientTransport{Endpoint: t.URL, HTTPClient: w.client(), MaxEventSize: size}
		if second, e := open(ctx, o, w, sse.Connect); e == nil {
			return second, nil
		}
		w.status.Store(older)
	}
	if err != nil {
		w.next.CloseIdleConnections()
		return nil, err
	}
	return c, nil
}

// open connects and agrees on a version.
func open(ctx context.Context, o Options, w *web, dial func(context.Context) (mcp.Connection, error)) (*Client, error) {
	c := &Client{options: o, web: w}
	// A connection lives longer than its opening.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	giveUp := context.AfterFunc(ctx, end)
	conn, err := dial(life)
	if err != nil {
		end()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, c.failure(err)
	}
	c.peer = newPeer(life, conn, o.Handler, c.failure)
	context.AfterFunc(c.peer.ctx, end)
	err = c.agree(ctx)
	if !giveUp() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		c.peer.close()
		if answered(err) == nil {
			err = c.failure(err)
		}
		return nil, err
	}
	c.watch()
	return c, nil
}

func (c *Client) failure(err error) error {
	status := 0
	if c.web != nil {
		status = int(c.web.status.Load())
	}
	return failure(err, status)
}

// agree makes the handshake, or learns that the target has none.
func (c *Client) agree(ctx context.Context) error {
	raw, err := c.peer.call(ctx, "initialize", map[string]any{
		"protocolVersion": handshake, "capabilities": c.capabilities(), "clientInfo": c.info(),
	})
	if wire := answered(err); wire != nil && (wire.Code == jsonrpc.CodeMethodNotFound || wire.Code == mcp.CodeUnsupportedProtocolVersion) {
		return c.discover(ctx, err)
	}
	if err != nil {
		return err
	}
	if json.Unmarshal(raw, &c.server) != nil || !slices.Contains(mcp.SupportedProtocolVersions(), c.server.Version) {
		return &Failure{What: "speaks no version of MCP that is known here"}
	}
	if c.web != nil {
		c.web.version.Store(&c.server.Version)
	}
	return c.peer.notify(ctx, "notifications/initialized", struct{}{})
}

// discover asks a target that knows no initialize. If it knows no discovery
// either its first refusal stands.
func (c *Client) discover(ctx context.Context, refusal error) error {
	raw, err := c.peer.call(ctx, "server/discover", map[string]any{"_meta": c.meta(nil, false)})
	if err != nil {
		return refusal
	}
	var found struct {
		Server
		Versions []string `json:"supportedVersions"`
		Meta     struct {
			Info *mcp.Implementation `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	if json.Unmarshal(raw, &found) != nil || !slices.Contains(found.Versions, Modern) {
		return &Failure{What: "speaks no version of MCP that is known here"}
	}
	c.server = found.Server
	c.server.Version, c.server.Info = Modern, found.Meta.Info
	return nil
}

func (c *Client) info() map[string]any {
	return map[string]any{"name": "assent", "version": c.options.Version}
}

func (c *Client) capabilities() map[string]any {
	if c.options.Capabilities == nil {
		return map[string]any{}
	}
	return c.options.Capabilities
}

// Server is what the target said of itself.
func (c *Client) Server() Server { return c.server }

// Modern says whether the session has no handshake, so that each request says
// whose it is.
func (c *Client) Modern() bool { return c.server.Version >= Modern }

// Call sends a request and gives the result as the target wrote it. The error is
// that of ctx, a [*Failure], or the target's own [*jsonrpc.Error].
func (c *Client) Call(ctx context.Context, method string, params mcp.Params) (json.RawMessage, error) {
	own := params.GetMeta()
	params.SetMeta(c.meta(own, true))
	defer params.SetMeta(own)
	return c.peer.call(ctx, method, params)
}

// SetLogLevel says which log messages are wanted. A target that sends none is not
// bothered.
func (c *Client) SetLogLevel(ctx context.Context, level string) error {
	if c.Modern() {
		c.level.Store(level)
		return nil
	}
	if c.server.Capabilities == nil || c.server.Capabilities.Logging == nil {
		return nil
	}
	_, err := c.peer.call(ctx, "logging/setLevel", map[string]any{"level": level})
	return err
}

// Notify sends a notification.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	return c.peer.notify(valueless{ctx}, method, params)
}

// Ended says whether the session is over.
func (c *Client) Ended() bool { return c.peer.ended() }

// Close ends the session, and the program if there is one.
func (c *Client) Close() {
	c.peer.close()
	c.watching.Wait()
	if c.web != nil {
		c.web.next.CloseIdleConnections()
	}
}

// keys of the metadata by which a request without handshake says whose it is.
var requestKeys = []string{mcp.MetaKeyProtocolVersion, mcp.MetaKeyClientInfo, mcp.MetaKeyClientCapabilities, logLevelKey}

const logLevelKey = "io.modelcontextprotocol/logLevel"

// meta is the metadata of a request. A target with a handshake must not be sent
// what belongs to versions without one; the other kind gets what the caller said,
// or what we are. Everything else stays.
func (c *Client) meta(own map[string]any, agreed bool) map[string]any {
	meta := make(map[string]any, len(own)+len(requestKeys))
	for key, value := range own {
		if !agreed || c.Modern() || !slices.Contains(requestKeys, key) {
			meta[key] = value
		}
	}
	if agreed && !c.Modern() {
		if len(meta) == 0 {
			return nil
		}
		return meta
	}
	if level, wanted := c.level.Load().(string); wanted && meta[logLevelKey] == nil {
		meta[logLevelKey] = level
	}
	for key, value := range map[string]any{
		mcp.MetaKeyProtocolVersion: Modern, mcp.MetaKeyClientInfo: c.info(), mcp.MetaKeyClientCapabilities: c.capabilities(),
	} {
		if _, said := meta[key]; !said {
			meta[key] = value
		}
	}
	return meta
}
