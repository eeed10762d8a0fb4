package endpoint

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/samber/lo"
)

// Observer is told what reaches the endpoint. It is called while the request is
// served, by many goroutines at a time, and must not block.
type Observer interface {
	// Listed: the session was given the endpoint's tools, by these exact names.
	Listed(session SessionID, tools []string)
	// Arrived: a tool call has arrived in the session. It is told before the
	// tool runs, and also when there is no such tool or its arguments are wrong.
	Arrived(session SessionID, a Arrival)
}

// Arrival is one tools/call as it reached the endpoint. It is comparable. All
// texts come from the agent.
type Arrival struct {
	// Tool is the name that was called.
	Tool string
	// ToolUseID is _meta["claudecode/toolUseId"]: Claude sends the toolCallId of
	// ACP there (claude-agent-acp 0.101.0). Empty when it was not sent.
	ToolUseID string
	// CallID is _meta.callId: Codex sends the toolCallId of ACP there (codex-acp
	// 2.6.0). Empty when it was not sent.
	CallID string
	// Unmatchable: a call id was sent that is no string or too long, so it is the
	// id of no call that could be known.
	Unmatchable bool
}

// maxArrivalText bounds the texts of an [Arrival] in bytes. A longer one could
// match nothing and is dropped.
const maxArrivalText = 512

func newArrival(p *mcp.CallToolParamsRaw) Arrival {
	var a Arrival
	text := func(v any) string {
		s, ok := v.(string)
		if ok = ok && len(s) <= maxArrivalText; !ok && v != nil {
			a.Unmatchable = true
			return ""
		}
		return s
	}
	a.Tool = text(p.Name)
	a.ToolUseID, a.CallID = text(p.Meta["claudecode/toolUseId"]), text(p.Meta["callId"])
	return a
}

// newServer makes the MCP server of one session.
func (e *Endpoint) newServer(s *Session) *mcp.Server {
	server := mcp.NewServer(
		&mcp.Implementation{Name: "assent", Title: "Tasks of the host", Version: e.opts.Version},
		&mcp.ServerOptions{
			// The list of tools never changes, so nobody need wait for changes.
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
			PageSize:     len(e.opts.Tools) + 1, // one answer to tools/list holds all
			SchemaCache:  e.schemas,
		})
	for _, t := range e.opts.Tools {
		t.add(server)
	}
	server.AddReceivingMiddleware(e.observe(s))
	return server
}

// errToolPanic is all that a client learns of a panic.
var errToolPanic = errors.New("endpoint: internal error")

// observe ends the context with the session and with the request, reports to the observer, and keeps a
// panic from ending the process.
func (e *Endpoint) observe(s *Session) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
			defer func() {
				if recover() != nil {
					e.logger.Error("serving an MCP request panicked", "session", s.id)
					result, err = nil, errToolPanic
				}
			}()
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(s.ctx, cancel)()
			if request, ok := ctx.Value(requestKey{}).(context.Context); ok {
				defer context.AfterFunc(request, cancel)()
			}
			if call, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok && e.opts.Observer != nil {
				e.opts.Observer.Arrived(s.id, newArrival(call))
			}
			result, err = next(ctx, method, req)
			if list, ok := result.(*mcp.ListToolsResult); ok && err == nil && e.opts.Observer != nil {
				e.opts.Observer.Listed(s.id, lo.Map(list.Tools, func(t *mcp.Tool, _ int) string { return t.Name }))
			}
			return result, err
		}
	}
}
