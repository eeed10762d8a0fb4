package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/dispatch"
)

func TestTooManyClients(t *testing.T) {
	s := begin(t, func(o *Options) { o.Limits.MaxClients = 2 })
	one := s.dial(t, "s3cret")
	s.dial(t, "wall").alive(t)
	assert.Equal(t, 503, s.upgrade(t))
	require.NoError(t, one.conn.Close(websocket.StatusNormalClosure, ""))
	require.Eventually(t, func() bool { return s.count() == 1 }, 10*time.Second, time.Millisecond)
	s.dial(t, "s3cret").alive(t)
}

// One token cannot take the places of others, by header or by message.
func TestTooManyClientsOfAToken(t *testing.T) {
	s := begin(t, nil)
	const auth = `{"id":"0","action":"auth","payload":{"token":"s3cret"}}`
	one := s.dial(t, "s3cret")
	for range maxOfToken - 2 {
		s.dial(t, "s3cret")
	}
	assert.Contains(t, s.dial(t, "").ask(t, auth), `"result"`, "the last that it may have")
	assert.Equal(t, 429, s.upgrade(t))
	refused := s.dial(t, "")
	assert.Equal(t, `{"id":"0","action":"auth","error":{"code":"rate_limited","message":"this token has too many connections: close one"}}`, refused.ask(t, auth))
	refused.closed(t)
	s.dial(t, "wall").alive(t)
	require.NoError(t, one.conn.Close(websocket.StatusNormalClosure, ""))
	require.Eventually(t, func() bool { return s.upgrade(t) == 101 }, 10*time.Second, time.Millisecond)
}

// Nor can it open streams of MCP without end, or calls.
func TestTooManyOfATokenAtOnce(t *testing.T) {
	const streams, calls = http.MethodGet, http.MethodPost
	for _, test := range []struct{ method, other, says string }{{streams, calls, refusedClients}, {calls, streams, refusedCalls}} {
		t.Run(test.method, func(t *testing.T) {
			begun := make(chan struct{})
			s := begin(t, func(o *Options) {
				o.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if p, _ := PersonOf(r.Context()); r.Method == test.method && p.Name == "desk" {
						begun <- struct{}{}
						<-r.Context().Done()
					}
				})
			})
			leave := s.fill(t, test.method, begun)
			ask := func(method, secret string) (int, string) {
				answer, body := s.get(t, method, "/mcp", with("Authorization", "Bearer "+secret))
				return answer.StatusCode, body
			}
			status, body := ask(test.method, "s3cret")
			assert.Equal(t, 429, status)
			assert.Equal(t, test.says+": "+ways[test.says]+"\n", body)
			assert.Regexp(t, `reason=`+test.says+` .* from=127.0.0.1 path=/mcp token=desk\n`, s.log.String())
			status, _ = ask(test.other, "s3cret")
			assert.Equal(t, 200, status, "the one is not counted as the other")
			status, _ = ask(test.method, "wall")
			assert.Equal(t, 200, status)
			leave()
			require.Eventually(t, func() bool {
				s.Gateway.mu.Lock()
				defer s.Gateway.mu.Unlock()
				return len(s.streams) == 0 && len(s.calls) == 0
			}, 10*time.Second, time.Millisecond)
		})
	}
}

// fill sends as many requests of MCP with one token as it may have, each of which has
// begun. Leave ends them.
func (s *stand) fill(t *testing.T, method string, begun <-chan struct{}) (leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var open sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for i := range maxOfToken {
		r, err := http.NewRequestWithContext(ctx, method, "http://"+s.host+[]string{"/mcp", "/mcp/sse"}[i%2], nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer s3cret")
		open.Go(func() {
			if answer, err := client.Do(r); err == nil {
				_ = answer.Body.Close()
			}
		})
		<-begun
	}
	return func() { cancel(); open.Wait() }
}

// Those that have not said who they are cannot take all places.
func TestStrangers(t *testing.T) {
	s := begin(t, func(o *Options) { o.Limits.AuthTimeout = time.Hour })
	const auth = `{"id":"0","action":"auth","payload":{"token":"s3cret"}}`
	oldest, second := s.dial(t, ""), s.dial(t, "")
	known := s.dial(t, "s3cret")
	for range maxStrangers - 2 {
		s.dial(t, "")
	}
	assert.Contains(t, s.dial(t, "").ask(t, auth), `"result"`, "the oldest makes room")
	_, _, err := oldest.conn.Read(oldest.ctx)
	require.Error(t, err)
	assert.Contains(t, second.ask(t, auth), `"result"`, "the others stay")
	known.alive(t)
}

// One that made room is told so, and nothing of its token, which has room.
func TestAStrangerThatMadeRoom(t *testing.T) {
	for name, dropped := range map[string]bool{"it made room": true, "it is there": false} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, func(o *Options) { o.Limits.AuthTimeout = time.Hour })
			s.dial(t, "")
			require.Eventually(t, func() bool { return s.count() == 1 }, 10*time.Second, time.Millisecond)
			c := s.clientOf("")
			if dropped {
				s.Gateway.mu.Lock()
				s.dropStranger()
				s.Gateway.mu.Unlock()
			}
			p, failure := c.personOf(&request{name: actionAuth, payload: jsontext.Value(`{"token":"s3cret"}`)}, httptest.NewRequest(http.MethodGet, "/ws", nil))
			if dropped {
				assert.Equal(t, &dispatch.Error{Code: dispatch.CodeRateLimited, Message: "the token came late, and too many clients have sent none: connect again"}, failure)
				assert.Contains(t, s.log.String(), refusedRoom)
				return
			}
			assert.Nil(t, failure)
			assert.Equal(t, "desk", p.Name)
		})
	}
}
