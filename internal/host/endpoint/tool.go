package endpoint

import (
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/kandev/assent/pipeline"
)

// Tool is one tool of the endpoint, made by [NewTool].
type Tool struct {
	name string
	add  func(*mcp.Server)
}

// NewTool defines a tool. Schemas come from the types In and Out, an error of
// the handler becomes a tool error that the model reads (see [mcp.AddTool]). The
// handler must end when its context ends.
func NewTool[In, Out any](t *mcp.Tool, handler mcp.ToolHandlerFor[In, Out]) Tool {
	if t == nil || handler == nil {
		return Tool{}
	}
	return Tool{name: t.Name, add: func(s *mcp.Server) { mcp.AddTool(s, t, handler) }}
}

// checkTools refuses tools that could not be served, and tools whose qualified
// name would be ambiguous: no call of theirs could ever be approved.
func checkTools(tools []Tool) error {
	seen := map[string]bool{}
	for i, t := range tools {
		if t.add == nil {
			return fmt.Errorf("endpoint: tool number %d is empty: make it with NewTool", i+1)
		}
		if id, reason := pipeline.NewIdentity(pipeline.ClaimTool(pipeline.DefaultReservedName, t.name)); id.State() != pipeline.Named {
			return fmt.Errorf("endpoint: tool %q: %s: use 1 to 128 of A-Z a-z 0-9 _ -, without __ and not beginning with _", t.name, reason)
		}
		if seen[t.name] {
			return fmt.Errorf("endpoint: tool %q is there twice", t.name)
		}
		seen[t.name] = true
		if err := tryTool(t); err != nil {
			return fmt.Errorf("endpoint: tool %q: %w", t.name, err)
		}
	}
	return nil
}

// tryTool adds a tool to a server that is thrown away: the SDK panics when the
// types of a tool make no schema.
func tryTool(t Tool) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("its types make no schema that MCP allows")
		}
	}()
	t.add(mcp.NewServer(&mcp.Implementation{Name: "try"}, nil))
	return nil
}
