package gateway

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/internal/host/dispatch"
)

// What is refused for another reason costs its token as much, and keeps its own error.
func TestRateOfWhatIsRefused(t *testing.T) {
	const good, internal = `{"id":1,"action":"task.list"}`, `{"id":1,"action":"mcp.list_tasks"}`
	for name, c := range map[string]struct {
		message string
		want    dispatch.Code
	}{
		"internal":   {internal, dispatch.CodeForbidden},
		"unreadable": {`{"id":1}`, dispatch.CodeInvalidRequest},
		"too large":  {`{"id":1,"action":"` + strings.Repeat("x", 1000) + `"}`, dispatch.CodeTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, func(o *Options) { o.Limits.Rate, o.Limits.Burst, o.Limits.MaxMessage = 1e-9, 3, 1000 })
			s.action(t, "task.list", dispatch.ScopeView, nil)
			p, other := s.dial(t, "s3cret"), s.dial(t, "wall")
			for range 2 {
				assert.Equal(t, c.want, codeOf(t, p.ask(t, c.message)))
			}
			assert.Contains(t, p.ask(t, good), `"result"`, "one was left")
			assert.Equal(t, c.want, codeOf(t, p.ask(t, c.message)))
			assert.Equal(t, dispatch.CodeRateLimited, codeOf(t, p.ask(t, good)))
			assert.Contains(t, other.ask(t, good), `"result"`, "another token has its own")
			assert.Len(t, s.asked(), 2)
		})
	}
}
