package gateway

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// long is an answer that no buffer takes in.
var long = strings.Repeat("x", 1<<20)

// answerLong is a handler that writes it.
func answerLong(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, long) }

// answerOf reads an answer to its end.
func answerOf(t *testing.T, conn net.Conn) string {
	t.Helper()
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(body)
}

// A client that does not read what it was sent is cut at the end, in time and without an
// error; one that reads gets everything.
func TestTheEndWhileNobodyReads(t *testing.T) {
	for _, request := range [][2]string{{"GET", "/app.js"}, {"GET", "/metrics"}, {"POST", "/mcp"}, {"GET", "/mcp"}} {
		for name, reads := range map[string]bool{"read": true, "never read": false} {
			t.Run(request[0]+request[1]+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := piped(t, nil, answerLong)
					conn := p.ask(t, request[0], request[1])
					synctest.Wait()
					ended, begun := make(chan error, 1), time.Now()
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					go func() { ended <- p.gateway.Shutdown(ctx) }()
					synctest.Wait()
					if reads {
						assert.NotEmpty(t, answerOf(t, conn))
					}
					require.NoError(t, <-ended)
					assert.LessOrEqual(t, time.Since(begun), 3*farewell)
				})
			})
		}
	}
}

// The same of a WebSocket client that has asked for something.
func TestTheEndWhileAWebSocketClientReadsNothing(t *testing.T) {
	for name, reads := range map[string]bool{"read": true, "never read": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := piped(t, nil, answerLong)
				near, far := net.Pipe()
				defer func() { _ = near.Close() }()
				p.conns <- far
				_, err := io.WriteString(near, "GET /ws HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer s3cret\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
					"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
				require.NoError(t, err)
				reader := bufio.NewReader(near)
				answer, err := http.ReadResponse(reader, nil)
				require.NoError(t, err)
				require.Equal(t, http.StatusSwitchingProtocols, answer.StatusCode)
				const text = `{"id":1,"action":"no.such"}`
				_, err = near.Write(append([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...))
				require.NoError(t, err)
				synctest.Wait()
				ended, begun := make(chan error, 1), time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				go func() { ended <- p.gateway.Shutdown(ctx) }()
				synctest.Wait()
				if reads {
					got, _ := io.ReadAll(reader)
					assert.Contains(t, string(got), `"unknown_action"`)
					assert.Contains(t, string(got), "the server ends")
				}
				require.NoError(t, <-ended)
				assert.LessOrEqual(t, time.Since(begun), 3*farewell)
			})
		})
	}
}

// The answer of a call whose token is deleted is given up soon where nobody reads it; one
// of another token may still be read late.
func TestDeletedTokenOfACallThatNobodyReads(t *testing.T) {
	for dropped, within := range map[string]time.Duration{"desk": farewell, "wall": writeTimeout} {
		t.Run(dropped, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				done := make(chan written, 1)
				p := piped(t, nil, func(w http.ResponseWriter, _ *http.Request) {
					begun := time.Now()
					_, err := io.WriteString(w, long)
					done <- written{time.Since(begun), err}
				})
				p.ask(t, "POST", "/mcp")
				synctest.Wait()
				p.gateway.DropToken(dropped)
				got := <-done
				assert.Error(t, got.err)
				assert.Equal(t, within, got.after)
			})
		})
	}
}

// A call may take longer than its answer may.
func TestAnAnswerOfALongCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := piped(t, nil, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(3 * writeTimeout)
			answerLong(w, r)
		}).ask(t, "POST", "/mcp")
		assert.Equal(t, long, answerOf(t, conn))
	})
}
