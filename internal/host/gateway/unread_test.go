package gateway

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/dispatch"
)

// pipes is a listener without sockets, whose buffers would take most answers in.
type pipes struct {
	conns   chan net.Conn
	ended   chan struct{}
	gateway *Gateway // that serves them
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error { close(p.ended); return nil }

func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// written is what became of writing an answer.
type written struct {
	after time.Duration
	err   error
}

// piped starts a gateway in a bubble with something behind /mcp and /metrics.
func piped(t *testing.T, config *tls.Config, handler http.HandlerFunc) pipes {
	t.Helper()
	p := pipes{conns: make(chan net.Conn), ended: make(chan struct{})}
	g, err := Open(Options{
		Listener: p, TLS: config, Dispatcher: dispatch.New(nil), MaySee: maySee, MCP: handler, Metrics: handler,
		Tokens: &people{of: map[string]dispatch.Person{"s3cret": {Name: "desk", Scopes: everything}}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Shutdown(context.Background())) })
	p.gateway = g
	return p
}

// unread starts a gateway in a bubble with something behind /mcp and /metrics. Ask sends
// a request and gives the client's end, which has read nothing.
func unread(t *testing.T, handler http.HandlerFunc) (ask func(method, path string) net.Conn) {
	t.Helper()
	p := piped(t, nil, handler)
	return func(method, path string) net.Conn { return p.ask(t, method, path) }
}

// ask sends a request and gives the client's end.
func (p pipes) ask(t *testing.T, method, path string) net.Conn {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { _ = near.Close() })
	p.conns <- far
	_, err := fmt.Fprintf(near, "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer s3cret\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", method, path)
	require.NoError(t, err)
	return near
}

// An answer that its client does not read is given up in time; one that is read late
// comes whole.
func TestAnAnswerThatNobodyReads(t *testing.T) {
	for _, request := range [][2]string{{"POST", "/mcp"}, {"POST", "/mcp/sse"}, {"GET", "/metrics"}} {
		for name, reads := range map[string]bool{"read late": true, "never read": false} {
			t.Run(request[0]+request[1]+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					done, text := make(chan written, 1), strings.Repeat("x", 1<<20)
					conn := unread(t, func(w http.ResponseWriter, _ *http.Request) {
						time.Sleep(10 * time.Second) // it is not ready at once
						begun := time.Now()
						_, err := io.WriteString(w, text)
						done <- written{time.Since(begun), err}
					})(request[0], request[1])
					if !reads {
						got := <-done
						assert.Error(t, got.err)
						assert.LessOrEqual(t, got.after, writeTimeout)
						return
					}
					time.Sleep(writeTimeout - time.Second)
					answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
					require.NoError(t, err)
					body, err := io.ReadAll(answer.Body)
					require.NoError(t, err)
					assert.Equal(t, text, string(body))
					assert.NoError(t, (<-done).err)
				})
			})
		}
	}
}

// A stream lasts as long as its pieces are read, however seldom they come.
func TestAStreamThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan written, 1)
		conn := unread(t, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				time.Sleep(time.Hour)
				begun := time.Now()
				_, _ = io.WriteString(w, "news\n")
				if err := http.NewResponseController(w).Flush(); err != nil {
					done <- written{time.Since(begun), err}
					return
				}
			}
		})("GET", "/mcp")
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		body := bufio.NewReader(answer.Body)
		for range 3 {
			line, err := body.ReadString('\n')
			require.NoError(t, err)
			assert.Equal(t, "news\n", line)
			time.Sleep(30 * time.Minute)
		}
		got := <-done
		assert.Error(t, got.err)
		assert.Equal(t, writeTimeout, got.after)
	})
}
