package hostfx

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Who keeps the drain waiting is cut, and everything is closed before Run returns: the
// process exits then. Without such a request the end is no error.
func TestADrainThatTakesTooLong(t *testing.T) {
	for _, stubborn := range []bool{true, false} {
		s := settings(t)
		s.ShowToken = true
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		closed := false
		c := &closers{start: ctx, drain: 100 * time.Millisecond}
		c.add(func(ctx context.Context) error { closed = true; return ctx.Err() })
		var out buffer
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, c, s, &out, "") }()
		page := regexp.MustCompile(`http://([^/]+)/#token=(\S+)`)
		require.Eventually(t, func() bool { return page.MatchString(out.String()) }, time.Minute, 20*time.Millisecond)
		at := page.FindStringSubmatch(out.String())
		if stubborn {
			promiseBody(t, at[1], at[2])
		}
		stop()
		if err := <-ended; stubborn {
			require.ErrorContains(t, err, "not everything had ended")
		} else {
			require.NoError(t, err)
		}
		assert.True(t, closed, "with time left")
	}
}

// promiseBody begins a request, and returns when the server waits for the body, which
// never comes.
func promiseBody(t *testing.T, host, token string) {
	t.Helper()
	conn, err := net.Dial("tcp", host)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n", host, token)
	require.NoError(t, err)
	line, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "100 Continue")
}
