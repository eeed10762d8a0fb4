package gateway

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A request whose body never comes keeps no gateway from its end; one whose body came
// is let finish.
func TestTheEndDoesNotWaitForABody(t *testing.T) {
	for name, sent := range map[string]bool{"it never comes": false, "it came": true} {
		t.Run(name, func(t *testing.T) {
			begun, goOn := make(chan struct{}), make(chan struct{})
			s := begin(t, func(o *Options) {
				o.MCP = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					close(begun)
					<-goOn
					say(w, 200, "served")
				})
			})
			conn, err := net.Dial("tcp", s.host)
			require.NoError(t, err)
			defer func() { _ = conn.Close() }()
			_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer s3cret\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n", s.host)
			require.NoError(t, err)
			_, err = io.ReadFull(conn, make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n")))
			require.NoError(t, err, "the body is read")
			want := "503 Service Unavailable"
			if sent {
				want = "served"
				_, err = io.WriteString(conn, "{}")
				require.NoError(t, err)
				<-begun
			}
			ended := make(chan error, 1)
			go func() { ended <- s.Shutdown(context.Background()) }()
			if sent {
				require.Eventually(t, s.draining, 10*time.Second, time.Millisecond)
				assert.Empty(t, ended)
				close(goOn)
			}
			assert.NoError(t, <-ended)
			answer, err := io.ReadAll(conn)
			require.NoError(t, err)
			assert.Contains(t, string(answer), want)
		})
	}
}

// Nothing is done after the end has been called off, nor while who called it off goes on.
func TestWhenEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		goOn, did, stopped := make(chan struct{}), 0, false
		stop := whenEnds(ctx, func() { <-goOn; did++ })
		whenEnds(ctx, func() { did++ })()
		end()
		go func() { stop(); stopped = true }()
		synctest.Wait()
		assert.False(t, stopped)
		close(goOn)
		synctest.Wait()
		assert.True(t, stopped)
		assert.Equal(t, 1, did)
	})
}
