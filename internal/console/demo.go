package console

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/kandev/assent/internal/host/config"
)

// demoPrompts are what the demo agent is told: what was asked for, or everything
// that it can when nobody is there to type.
func demoPrompts(given []string, terminal bool) []string {
	if len(given) == 0 && !terminal {
		return []string{"mixed"}
	}
	return given
}

// otherServer is a second MCP server, which stands for one of the user's.
type otherServer struct {
	server *http.Server
	url    string
	done   chan struct{}
}

// otherName is the server's name.
const otherName = "other"

type noInput struct{}

type notes struct {
	Notes []string `json:"notes" jsonschema:"all notes"`
}

// startOther starts a server with one harmless tool.
func startOther(version string) (*otherServer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the demo's second MCP server: %w", err)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: otherName, Version: version}, nil)
	mcp.AddTool(s, &mcp.Tool{
		Name: "read_notes", Description: "Returns the user's notes. It changes nothing.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}, func(context.Context, *mcp.CallToolRequest, noInput) (*mcp.CallToolResult, notes, error) {
		return nil, notes{Notes: []string{"water the plants"}}, nil
	})
	o := &otherServer{
		server: &http.Server{
			Handler:           mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true}),
			ReadHeaderTimeout: 10 * time.Second,
		},
		url:  "http://" + listener.Addr().String() + "/mcp",
		done: make(chan struct{}),
	}
	go func() { defer close(o.done); _ = o.server.Serve(listener) }()
	return o, nil
}

func (o *otherServer) entry() config.MCPServer {
	return config.MCPServer{Name: otherName, Type: config.TypeHTTP, URL: o.url}
}

func (o *otherServer) close() {
	_ = o.server.Close()
	<-o.done
}
