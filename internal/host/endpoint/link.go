package endpoint

//lint:file-ignore SA1019 agents and servers go on using what MCP 2026-07-28 deprecates

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/kandev/assent/internal/host/upstream"
)

// link is the way from one MCP session of the agent to the target: a session there
// of its own, opened by the first request that needs it and opened anew after it
// ended. The requests of an agent that makes no MCP session share one link.
type link struct {
	e *Endpoint
	s *Session
	// shared by the requests of an agent that makes no MCP session.
	shared bool

	ctx    context.Context // ends with the link
	cancel context.CancelFunc
	turn   chan struct{} // held while a session is opened
	once   sync.Once     // to close it

	mu      sync.Mutex
	ss      *mcp.ServerSession // the agent's, from its first request on; nil when shared
	current *upstream.Client
	running []*running
	level   string // of log messages, as the agent last set it
}

type linkKey struct{}

// linkOf is the link that a request came with.
func linkOf(ctx context.Context) *link {
	l, _ := ctx.Value(linkKey{}).(*link)
	return l
}

func (e *Endpoint) newLink(s *Session, shared bool) *link {
	l := &link{e: e, s: s, shared: shared, turn: make(chan struct{}, 1)}
	l.ctx, l.cancel = context.WithCancel(s.ctx)
	return l
}

// close ends the target's session. The link is of no use afterwards.
func (l *link) close() {
	l.cancel()
	l.once.Do(func() {
		l.turn <- struct{}{} // for good
		l.mu.Lock()
		c := l.current
		l.current = nil
		l.mu.Unlock()
		if c != nil {
			c.Close()
		}
	})
}

// requestKey is for the context of the HTTP request that brought a request which
// belongs to no MCP session: it ends when the agent hangs up.
type requestKey struct{}

// bind lets a request end with the link, and makes its MCP session known: the link
// ends with that.
func (l *link) bind(ctx context.Context, req mcp.Request) (context.Context, func()) {
	if ss, ok := req.GetSession().(*mcp.ServerSession); ok && !l.shared {
		l.mu.Lock()
		first := l.ss == nil
		l.ss = ss
		l.mu.Unlock()
		if first {
			l.e.running.Go(func() {
				_ = ss.Wait()
				l.close()
				l.s.drop(l)
			})
		}
	}
	request, _ := ctx.Value(requestKey{}).(context.Context)
	ctx, cancel := context.WithCancel(ctx)
	unlink := context.AfterFunc(l.ctx, cancel)
	hungUp := func() bool { return true }
	if request != nil && l.shared {
		hungUp = context.AfterFunc(request, cancel)
	}
	return ctx, func() { unlink(); hungUp(); cancel() }
}

// client is the open session with the target.
func (l *link) client(ctx context.Context, req mcp.Request) (*upstream.Client, error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return nil, l.asAnswer(ctx.Err())
	case <-l.ctx.Done():
		return nil, l.asAnswer(l.ctx.Err())
	}
	l.mu.Lock()
	c := l.current
	l.current = nil
	l.mu.Unlock()
	if c != nil && c.Ended() {
		c.Close()
		c = nil
	}
	if c == nil {
		opened, err := l.open(ctx, req)
		if err != nil {
			return nil, l.broken(err)
		}
		c = opened
	}
	l.mu.Lock()
	l.current = c
	l.mu.Unlock()
	return c, nil
}

func (l *link) open(ctx context.Context, req mcp.Request) (*upstream.Client, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	if err := l.ctx.Err(); err != nil {
		return nil, err
	}
	u := l.e.opts.Upstream
	c, err := upstream.Open(ctx, u.Target, upstream.Options{
		Version: l.e.opts.Version, Capabilities: declared(req), Handler: relay{l},
		Stderr: u.Stderr, Name: u.Name, MaxMessage: l.e.opts.MaxBody,
	})
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	level := l.level
	l.mu.Unlock()
	if level != "" { // the session before this one had it
		_ = c.SetLogLevel(ctx, level)
	}
	return c, nil
}

// setLogLevel hands a level on, and keeps it for sessions to come.
func (l *link) setLogLevel(ctx context.Context, req mcp.Request) error {
	params, ok := paramsOf(req).(*mcp.SetLoggingLevelParams)
	if !ok {
		return nil
	}
	c, err := l.client(ctx, req)
	if err != nil {
		return err
	}
	if err := c.SetLogLevel(ctx, string(params.Level)); err != nil {
		return l.broken(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.level = string(params.Level)
	return nil
}

// call hands a request on. A session that the target no longer knows is replaced,
// once: it has not looked at the request.
func (l *link) call(ctx context.Context, req mcp.Request, method string, params mcp.Params) (json.RawMessage, error) {
	ss, _ := req.GetSession().(*mcp.ServerSession)
	r := &running{ctx: ctx, ss: ss, token: progressToken(params)}
	l.begin(r)
	defer l.end(r)
	for again := false; ; again = true {
		c, err := l.client(ctx, req)
		if err != nil {
			return nil, err
		}
		body, err := bounded(ctx, method, func(ctx context.Context) (json.RawMessage, error) { return c.Call(ctx, method, params) })
		var failed *upstream.Failure
		if errors.As(err, &failed) && failed.SessionGone {
			l.discard(c)
			if !again {
				continue
			}
		}
		if err != nil {
			return nil, l.broken(err)
		}
		l.s.fails("")
		return body, nil
	}
}

// discard ends a session that is of no use.
func (l *link) discard(c *upstream.Client) {
	l.mu.Lock()
	if l.current == c {
		l.current = nil
	}
	l.mu.Unlock()
	c.Close()
}

// listTimeout is how long a target may take for what takes no work.
const listTimeout = time.Minute

// bounded bounds the time of a request, unless the target may have to work for it.
func bounded(ctx context.Context, method string, ask func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	switch method {
	case "tools/call", "prompts/get", "resources/read":
		return ask(ctx)
	}
	short, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	body, err := ask(short)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = &upstream.Failure{What: "did not answer in time"}
	}
	return body, err
}

// broken logs a failure of the target, once while it is the same, and makes the answer of
// it: agents try again at once. What the target itself answered is logged nowhere.
func (l *link) broken(err error) error {
	var failed *upstream.Failure
	if errors.As(err, &failed) && l.ctx.Err() == nil && l.s.fails(failed.What) {
		l.e.logger.Warn("the target of an MCP endpoint failed", "session", l.s.id, "server", l.e.opts.Upstream.Name, "target", l.e.opts.Upstream.Target, "what", failed.What)
	}
	return l.asAnswer(err)
}

// notify hands a notification on, if there is a session to tell of it.
func (l *link) notify(ctx context.Context, method string) {
	l.mu.Lock()
	c := l.current
	l.mu.Unlock()
	if c != nil {
		_ = c.Notify(ctx, method, struct{}{}) // the next call finds out what is wrong
	}
}

// introduce answers initialize and server/discover: with what the target has.
func (l *link) introduce(ctx context.Context, next mcp.MethodHandler, method string, req mcp.Request) (mcp.Result, error) {
	c, err := l.client(ctx, req)
	if err != nil {
		return nil, err
	}
	result, err := next(ctx, method, req)
	if err != nil {
		return nil, err
	}
	target := c.Server()
	capabilities := offered(target.Capabilities, c.Modern())
	switch r := result.(type) {
	case *mcp.InitializeResult:
		r.Capabilities, r.Instructions = capabilities, target.Instructions
		if target.Info != nil {
			r.ServerInfo = target.Info
		}
	case *mcp.DiscoverResult:
		r.Capabilities, r.Instructions = capabilities, target.Instructions
		r.CacheScope = "private" // it can be another one after a restart, and TTLMs is 0
		if target.Info != nil {
			r.SetMeta(map[string]any{mcp.MetaKeyServerInfo: target.Info})
		}
	default:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "The endpoint could not introduce itself."}
	}
	return result, nil
}
