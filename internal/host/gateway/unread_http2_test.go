package gateway

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// valve is the client's end of a connection, which takes nothing more once it is shut.
type valve struct {
	net.Conn
	shut  *atomic.Bool
	ended <-chan struct{}
}

func (v valve) Read(b []byte) (int, error) {
	n, err := v.Conn.Read(b)
	if v.shut.Load() {
		<-v.ended
	}
	return n, err
}

// overHTTP2 starts a gateway in a bubble and sends it a request over HTTP/2, whose answer
// has begun. Shut shuts the connection.
func overHTTP2(t *testing.T, method string, handler func(w http.ResponseWriter, shut func())) *http.Response {
	t.Helper()
	certified := httptest.NewTLSServer(nil)
	certified.Close()
	var shut atomic.Bool
	ended := make(chan struct{})
	p := piped(t, &tls.Config{Certificates: certified.TLS.Certificates}, func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).Flush() // so that the answer begins
		synctest.Wait()
		handler(w, func() { shut.Store(true) })
	})
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			p.conns <- far
			return valve{near, &shut, ended}, nil
		},
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "https://localhost:80/mcp", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer s3cret")
	answer, err := transport.RoundTrip(r)
	require.NoError(t, err)
	t.Cleanup(func() { close(ended); _ = answer.Body.Close(); transport.CloseIdleConnections() })
	require.Equal(t, "HTTP/2.0", answer.Proto)
	return answer
}

// With HTTP/2 an answer is given up, too, whose client takes nothing from its connection,
// or all but the stream.
func TestAnAnswerOfHTTP2ThatNobodyReads(t *testing.T) {
	for name, test := range map[string]struct{ shut, reads bool }{
		"nothing of the connection": {true, false}, "nothing of the stream": {false, false}, "read late": {false, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				done, text := make(chan written, 1), strings.Repeat("x", 1<<23)
				answer := overHTTP2(t, http.MethodPost, func(w http.ResponseWriter, shut func()) {
					if test.shut {
						shut()
					}
					begun := time.Now()
					_, err := io.WriteString(w, text)
					done <- written{time.Since(begun), err}
				})
				if !test.reads {
					got := <-done
					assert.Error(t, got.err)
					assert.LessOrEqual(t, got.after, 2*writeTimeout) // of the stream, or else of the connection
					return
				}
				time.Sleep(writeTimeout - time.Second)
				body, err := io.ReadAll(answer.Body)
				require.NoError(t, err)
				assert.Len(t, body, len(text))
				assert.NoError(t, (<-done).err)
			})
		})
	}
}

// A stream of HTTP/2 lasts, however seldom its pieces come.
func TestAStreamOfHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := overHTTP2(t, http.MethodGet, func(w http.ResponseWriter, _ func()) {
			for range 3 {
				time.Sleep(time.Hour)
				_, _ = io.WriteString(w, "news\n")
				_ = http.NewResponseController(w).Flush()
			}
		})
		lines := bufio.NewScanner(answer.Body)
		for range 3 {
			require.True(t, lines.Scan(), lines.Err())
			assert.Equal(t, "news", lines.Text())
		}
	})
}
