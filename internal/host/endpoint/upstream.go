package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/kandev/assent/internal/host/upstream"
)

// DefaultUpstreamMaxBody is [Options.MaxBody] of an endpoint with an upstream, and
// the largest message of its target, in bytes.
const DefaultUpstreamMaxBody = 64 << 20

// Upstream is the MCP server of the user that an endpoint stands in front of. What
// it offers is what the endpoint offers.
type Upstream struct {
	// Target is the server.
	Target upstream.Target
	// Name is what the user calls it. It stands before each line of Stderr, and in
	// what is said of failures.
	Name string
	// Stderr gets what a program writes there; nil for nowhere.
	Stderr io.Writer
}

// check refuses an upstream that is this endpoint, whose port is claimed by now, or
// another one of this process.
func (u *Upstream) check() error {
	if target := u.Target.Loopback(); target != 0 && usedPorts.open(target) {
		return fmt.Errorf("endpoint: the target is at port %d, which is an endpoint of this process: give the URL of the MCP server itself", target)
	}
	return nil
}

// newFront makes the MCP server of a session that hands everything on.
func (e *Endpoint) newFront(s *Session) *mcp.Server {
	server := mcp.NewServer(
		&mcp.Implementation{Name: "assent", Version: e.opts.Version},
		&mcp.ServerOptions{
			Capabilities: utmost(), // the answers tell what the target has
			SubscribeHandler: func(ctx context.Context, r *mcp.SubscribeRequest) error {
				return discard(linkOf(ctx).call(ctx, r, "resources/subscribe", r.Params))
			},
			UnsubscribeHandler: func(ctx context.Context, r *mcp.UnsubscribeRequest) error {
				return discard(linkOf(ctx).call(ctx, r, "resources/unsubscribe", r.Params))
			},
		})
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			return e.forward(ctx, s, next, method, req)
		}
	})
	server.AddReceivingMiddleware(e.observe(s))
	return server
}

func discard(_ json.RawMessage, err error) error { return err }

// forward serves one request of the agent from the target.
func (e *Endpoint) forward(ctx context.Context, s *Session, next mcp.MethodHandler, method string, req mcp.Request) (mcp.Result, error) {
	l := linkOf(ctx)
	ctx, cancel := l.bind(ctx, req)
	defer cancel()
	switch method {
	case "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read",
		"prompts/list", "prompts/get", "completion/complete":
		params := paramsOf(req)
		if params == nil {
			params = &mcp.ListToolsParams{} // every list has the same
		}
		body, err := l.call(ctx, req, method, params)
		if err != nil {
			return nil, err
		}
		if method == "tools/list" {
			if err := e.listed(s, params.(*mcp.ListToolsParams).Cursor, body); err != nil {
				return nil, l.broken(err)
			}
		}
		result, err := newHandedOn(body, method, modern(req))
		if err != nil {
			return nil, l.broken(err)
		}
		return result, nil
	case "initialize", "server/discover":
		return l.introduce(ctx, next, method, req)
	case "subscriptions/listen": // without a session there, no change is heard of
		if _, err := l.client(ctx, req); err != nil {
			return nil, err
		}
	case "logging/setLevel":
		if err := l.setLogLevel(ctx, req); err != nil {
			return nil, err
		}
	case "notifications/roots/list_changed":
		l.notify(ctx, method)
	}
	return next(ctx, method, req)
}

// listed tells the observer which tools the session was given.
func (e *Endpoint) listed(s *Session, cursor string, body json.RawMessage) error {
	tools, err := s.listing.page(cursor, body)
	if err == nil && e.opts.Observer != nil {
		e.opts.Observer.Listed(s.id, tools)
	}
	return err
}

// paramsOf are the parameters of a request; nil when it has none, for which the
// SDK has a pointer that is nil.
func paramsOf(req mcp.Request) mcp.Params {
	params := req.GetParams()
	if params == nil || reflect.ValueOf(params).IsNil() {
		return nil
	}
	return params
}

// modern says whether a request belongs to a version of MCP without handshake.
func modern(req mcp.Request) bool {
	params := paramsOf(req)
	if params == nil {
		return false
	}
	version, _ := params.GetMeta()[mcp.MetaKeyProtocolVersion].(string)
	return version >= upstream.Modern
}

// asAnswer is what the agent is told of an error: the target's own one as it is,
// and else what has happened.
func (l *link) asAnswer(err error) error {
	var failed *upstream.Failure
	own := wireError(err)
	server := strings.TrimSpace("The MCP server " + l.e.opts.Upstream.Name)
	switch {
	case errors.As(err, &failed):
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: server + " behind this endpoint " + failed.What + ". The next call tries again."}
	case own != nil && own.Code == jsonrpc.CodeMethodNotFound:
		return ownWords{own}
	case own != nil:
		return own
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "The call was given up."}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: server + " behind this endpoint could not be asked."}
}

// ownWords is an error "method not found" of the target. The SDK would put its own
// message in the place of an error that [errors.Is] finds to be that one.
type ownWords struct{ e *jsonrpc.Error }

func (o ownWords) Error() string { return o.e.Message }

// As gives the code.
func (o ownWords) As(target any) bool {
	e, ok := target.(**jsonrpc.Error)
	if ok {
		*e = o.e
	}
	return ok
}

// wireError is the error that the other side answered with, if there is one in err.
func wireError(err error) *jsonrpc.Error {
	var own *jsonrpc.Error
	if errors.As(err, &own) && own.Code != upstream.CodeRejected {
		return own
	}
	return nil
}
