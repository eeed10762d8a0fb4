package endpoint

import (
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// running is a call of the agent that the target has not answered.
type running struct {
	ctx   context.Context
	ss    *mcp.ServerSession
	token any // its progress token, a string or a number
}

func (l *link) begin(r *running) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = append(l.running, r)
}

func (l *link) end(r *running) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = slices.DeleteFunc(l.running, func(other *running) bool { return other == r })
}

// progressToken is the token of a request; nil for none.
func progressToken(params mcp.Params) any {
	switch token := params.GetMeta()["progressToken"].(type) {
	case string, float64:
		return token
	}
	return nil
}

// withToken is the call that a progress token belongs to.
func (l *link) withToken(token any) *running {
	switch token.(type) {
	case string, float64:
	default:
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.running) - 1; i >= 0; i-- {
		if l.running[i].token == token {
			return l.running[i]
		}
	}
	return nil
}

// listener is who is to be told: by the last call that runs, else by the agent's
// own stream.
func (l *link) listener(ctx context.Context) (context.Context, *mcp.ServerSession) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.running); n > 0 {
		return l.running[n-1].ctx, l.running[n-1].ss
	}
	return ctx, l.ss
}
