//go:build unix

package hostfx

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/serve"
)

// busy is an agent that makes the file of its first argument when it is prompted, and
// then does what the second one says.
const busy = `
answer() {
	read -r line
	id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
	printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"
}
answer '{"protocolVersion":1}'
answer '{"sessionId":"one"}'
read -r line
: >"$1"
eval "$2"
`

// An agent that does not end is killed, and everything is closed before Run returns: the
// process exits then. With one that ends the end is no error.
func TestADrainThatTakesTooLong(t *testing.T) {
	for then, stubborn := range map[string]bool{"cat": false, "trap '' TERM; while :; do sleep 1; done": true} {
		s := settings(t)
		up := filepath.Join(s.Config.Data, "up")
		s.Config.Agents["demo"] = serve.Agent{Command: []string{"/bin/sh", "-c", busy, "agent", up, then}}
		s.Config.DefaultAgent = "demo" // that the first prompt is for
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		c := &closers{start: ctx, drain: 10 * time.Second}
		if stubborn {
			c.drain = 100 * time.Millisecond
		}
		closed := false
		c.add(func(ctx context.Context) error { closed = true; return ctx.Err() })
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, c, s, new(buffer), "hello") }()
		require.Eventually(t, func() bool { _, err := os.Stat(up); return err == nil }, time.Minute, 20*time.Millisecond)
		stop()
		if err := <-ended; stubborn {
			require.ErrorContains(t, err, "agents had to be killed")
		} else {
			require.NoError(t, err)
		}
		assert.True(t, closed, "with time left")
	}
}
