package endpoint

//lint:file-ignore SA1019 agents and servers go on using what MCP 2026-07-28 deprecates

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// relay takes what the target sends on its own, and hands it to the agent.
type relay struct{ l *link }

// declared are the client capabilities for the target: those of the agent that can
// be handed on. An agent without an MCP session, or without handshake, cannot be
// asked anything in the middle of a call.
func declared(req mcp.Request) map[string]any {
	ss, ok := req.GetSession().(*mcp.ServerSession)
	if !ok || modern(req) {
		return nil
	}
	var has *mcp.ClientCapabilities
	if init, ok := req.GetParams().(*mcp.InitializeParams); ok {
		has = init.Capabilities
	} else if init := ss.InitializeParams(); init != nil {
		has = init.Capabilities
	}
	if has == nil {
		return nil
	}
	out := map[string]any{}
	if has.RootsV2 != nil {
		out["roots"] = has.RootsV2
	}
	if has.Sampling != nil {
		out["sampling"] = has.Sampling
	}
	if has.Elicitation != nil {
		out["elicitation"] = has.Elicitation
	}
	return out
}

// utmost is the most that can be handed on to agents.
func utmost() *mcp.ServerCapabilities {
	return &mcp.ServerCapabilities{
		Tools:       &mcp.ToolCapabilities{ListChanged: true},
		Prompts:     &mcp.PromptCapabilities{ListChanged: true},
		Resources:   &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true},
		Completions: &mcp.CompletionCapabilities{},
		Logging:     &mcp.LoggingCapabilities{},
	}
}

// offered are the target's capabilities that can be handed on. To resources of a
// target without handshake nobody can subscribe here.
func offered(has *mcp.ServerCapabilities, modern bool) *mcp.ServerCapabilities {
	if has == nil {
		return &mcp.ServerCapabilities{}
	}
	resources := has.Resources
	if resources != nil && modern {
		resources = &mcp.ResourceCapabilities{ListChanged: resources.ListChanged}
	}
	return &mcp.ServerCapabilities{
		Tools: has.Tools, Prompts: has.Prompts, Resources: resources, Completions: has.Completions, Logging: has.Logging,
	}
}

// Notification implements [upstream.Handler].
func (r relay) Notification(ctx context.Context, method string, params json.RawMessage) {
	switch method {
	case "notifications/tools/list_changed":
		r.l.s.changed("tools")
	case "notifications/prompts/list_changed":
		r.l.s.changed("prompts")
	case "notifications/resources/list_changed":
		r.l.s.changed("resources")
	case "notifications/resources/updated":
		if p, ok := decoded[mcp.ResourceUpdatedNotificationParams](params); ok {
			_ = r.l.s.server.ResourceUpdated(ctx, p)
		}
	case "notifications/progress":
		if p, ok := decoded[mcp.ProgressNotificationParams](params); ok {
			if call := r.l.withToken(p.ProgressToken); call != nil {
				_ = call.ss.NotifyProgress(call.ctx, p)
			}
		}
	case "notifications/message":
		if p, ok := decoded[mcp.LoggingMessageParams](params); ok {
			if ctx, ss := r.l.listener(ctx); ss != nil {
				_ = ss.Log(ctx, p)
			}
		}
	case "notifications/elicitation/complete":
		if p, ok := decoded[mcp.ElicitationCompleteParams](params); ok {
			if ctx, ss := r.l.listener(ctx); ss != nil {
				_ = ss.NotifyElicitationComplete(ctx, p)
			}
		}
	}
}

// Request implements [upstream.Handler]. The agent is asked on the stream of a
// call that runs, if one does: not every agent keeps another one open.
func (r relay) Request(ctx context.Context, method string, params json.RawMessage) (any, error) {
	asked, ss := r.l.listener(ctx)
	if ss == nil || ss.InitializeParams() == nil {
		return nil, notFound()
	}
	asked, cancel := context.WithCancel(asked)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	switch method {
	case "sampling/createMessage":
		if p, ok := decoded[mcp.CreateMessageWithToolsParams](params); ok {
			return reply(ss.CreateMessageWithTools(asked, p))
		}
	case "elicitation/create":
		if p, ok := decoded[mcp.ElicitParams](params); ok {
			return reply(ss.Elicit(asked, p))
		}
	case "roots/list":
		return reply(ss.ListRoots(asked, &mcp.ListRootsParams{}))
	default:
		return nil, notFound()
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid params"}
}

func notFound() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "the client cannot be asked this"}
}

// reply keeps the agent's own errors as they are, and puts one text for others.
func reply[R any](result R, err error) (any, error) {
	if err == nil {
		return result, nil
	}
	if own := wireError(err); own != nil {
		return nil, own
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the client gave no answer"}
}

// decoded reads parameters; false when they are none.
func decoded[P any](params json.RawMessage) (*P, bool) {
	p := new(P)
	return p, json.Unmarshal(params, p) == nil
}
