package mcptools

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/kandev/assent/internal/host/agentstream"
	"github.com/kandev/assent/internal/host/dispatch"
)

// Caller dispatches an action for whoever calls a tool. Its errors are those of
// [agentstream.Stream].
type Caller func(ctx context.Context, action string, payload jsontext.Value) (jsontext.Value, error)

// tool is one tool and the action behind it.
type tool struct {
	name, title, description string
	action                   string
	schema                   *jsonschema.Schema
	readOnly, idempotent     bool
	// progress is how often a client hears that it is still worth waiting, of a tool
	// that answers when a person does; 0 for any other.
	progress time.Duration
}

// definition is what a client is told.
func (t tool) definition() *mcp.Tool {
	no := false
	return &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.description, InputSchema: t.schema,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.readOnly, IdempotentHint: t.idempotent, DestructiveHint: &no, OpenWorldHint: &no},
	}
}

// handler hands a call to the dispatcher. The arguments fit the schema already; the
// dispatcher looks at them once more.
func (t tool) handler(call Caller) mcp.ToolHandlerFor[map[string]any, any] {
	return func(ctx context.Context, req *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, any, error) {
		payload, err := json.Marshal(in)
		if err != nil { // its text would quote the arguments
			return nil, nil, errors.New("the arguments are not valid JSON text")
		}
		if t.progress > 0 {
			defer keepAlive(ctx, req, t.progress)()
		}
		result, err := call(ctx, t.action, payload)
		if err != nil {
			return nil, nil, explain(err)
		}
		return nil, result, nil
	}
}

// checked hands a call to a dispatcher as it came, which says what does not fit in words
// of its own: those of the SDK are for programmers.
func (t tool) checked(call Caller) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		payload := jsontext.Value(req.Params.Arguments)
		if payload.Kind() == 'n' { // null is none
			payload = nil
		}
		result, err := call(ctx, t.action, payload)
		if err != nil {
			failed := &mcp.CallToolResult{}
			failed.SetError(explain(err))
			return failed, nil
		}
		return &mcp.CallToolResult{StructuredContent: result, Content: []mcp.Content{&mcp.TextContent{Text: string(result)}}}, nil
	}
}

// explain is what the model reads of an error. None holds anything of the payload.
func explain(err error) error {
	var failure *dispatch.Error
	switch {
	case errors.As(err, &failure):
		return failure
	case errors.Is(err, agentstream.ErrClosed):
		return errors.New("unavailable: the host is ending this agent")
	}
	return errors.New("unavailable: the host cannot be reached now: try again later")
}

// progressEvery is for clients that give up after a minute without a word: many do.
const progressEvery = 10 * time.Second

// keepAlive sends progress notifications until the returned function is called, if
// the client asked for them.
func keepAlive(ctx context.Context, req *mcp.CallToolRequest, every time.Duration) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for n := 1.0; ; n++ {
			select {
			case <-ticker.C:
				p := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: "waiting for the user"}
				if req.Session.NotifyProgress(ctx, p) != nil {
					return // the client has gone, which ends the call
				}
			case <-over:
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { close(over); <-ended }
}
