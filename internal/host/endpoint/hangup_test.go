package endpoint

import (
	"context"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
)

// A tool that waits ends when its caller hangs up, in every version of MCP.
func TestAToolEndsWithItsCaller(t *testing.T) {
	for _, version := range []string{legacy, newest} {
		for _, path := range []string{"/mcp", "/sse"} {
			if path == "/sse" && version == newest {
				continue // there it is gone
			}
			running, ended := make(chan struct{}), make(chan error, 1)
			b := open(t, Options{Tools: []Tool{NewTool(&mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
				close(running)
				<-ctx.Done()
				ended <- ctx.Err()
				return nil, nil, ctx.Err()
			})}})
			session := b.connect(t, b.session(t), "127.0.0.1", path, version)
			ctx, hangUp := context.WithCancel(t.Context())
			go func() { <-running; hangUp() }()
			_, err := call(ctx, session, "wait", nil, nil)
			assert.Error(t, err)
			assert.ErrorIs(t, <-ended, context.Canceled, version+path)
		}
	}
}
