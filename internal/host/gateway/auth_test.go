package gateway

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/dispatch"
)

// beginWithAll starts a gateway with everything that needs a token.
func beginWithAll(t *testing.T) *stand {
	t.Helper()
	return begin(t, func(o *Options) {
		o.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p, ok := PersonOf(r.Context())
			assert.True(t, ok)
			say(w, 200, p.Name+" "+p.Surface)
		})
		o.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { say(w, 200, "metrics") })
	})
}

func TestTokens(t *testing.T) {
	s := beginWithAll(t)
	s.people.of["mute"] = dispatch.Person{Name: "mute", Scopes: dispatch.Scopes{dispatch.ScopeOperate}}
	for _, c := range []struct {
		path, header string
		status       int
		body         string // empty: any
	}{
		{"/healthz", "", 200, "ok\n"},
		{"/readyz", "", 200, "ready\n"},
		{"/", "", 200, ""},
		{"/api/actions", "Bearer s3cret", 200, ""},
		{"/api/actions", "bearer s3cret", 200, ""},
		{"/metrics", "Bearer wall", 200, "metrics\n"},
		{"/metrics", "Bearer guest", 403, "this token is limited to tasks: the metrics are of all\n"},
		{"/metrics", "Bearer mute", 403, "this token does not have the scope view\n"},
		{"/mcp", "Bearer s3cret", 200, "desk mcp\n"},
		{"/mcp/sse", "Bearer guest", 200, "guest mcp\n"},
		{"/nothing", "Bearer s3cret", 404, "not found\n"},
	} {
		change := with("Authorization", c.header)
		if c.header == "" {
			change = nil
		}
		answer, body := s.get(t, "GET", c.path, change)
		assert.Equal(t, c.status, answer.StatusCode, "%s %q", c.path, c.header)
		if c.body != "" {
			assert.Equal(t, c.body, body)
		}
	}
	assert.NotContains(t, s.log.String(), "s3cret")
}

func TestWithoutAGoodToken(t *testing.T) {
	s := beginWithAll(t)
	for _, c := range []struct {
		path   string
		header []string
	}{
		{"/api/actions", nil},
		{"/api/actions", []string{"Authorization", "Bearer S3CRET"}},
		{"/api/actions", []string{"Authorization", "Bearer "}},
		{"/api/actions", []string{"Authorization", "Basic s3cret"}},
		{"/api/actions", []string{"Authorization", "s3cret"}},
		{"/api/actions", []string{"Authorization", "Bearer s3cret", "Authorization", "Bearer other"}},
		{"/api/actions", []string{"Cookie", "token=s3cret"}},
		{"/api/actions?token=s3cret", nil},
		{"/metrics", nil},
		{"/mcp", nil},
		{"/mcp/sse", []string{"Authorization", "Bearer other"}},
		{"/ws", []string{"Authorization", "Bearer other"}},
		{"/nothing", nil},
	} {
		answer, body := s.get(t, "GET", c.path, with(c.header...))
		assert.Equal(t, 401, answer.StatusCode, "%s %q", c.path, c.header)
		assert.Regexp(t, `^token_missing_or_unknown: .*assent token create`, body)
	}
	assert.NotContains(t, s.log.String(), "s3cret")
}

func TestFirstMessage(t *testing.T) {
	cases := []struct {
		name, message string
		want          dispatch.Code // empty: it is let in
	}{
		{"good", `{"id":"0","action":"auth","payload":{"token":"wall"}}`, ""},
		{"an unknown token", `{"id":"0","action":"auth","payload":{"token":"nobody"}}`, dispatch.CodeForbidden},
		{"no token", `{"id":"0","action":"auth"}`, dispatch.CodeInvalidPayload},
		{"an empty token", `{"id":"0","action":"auth","payload":{"token":""}}`, dispatch.CodeInvalidPayload},
		{"two tokens", `{"id":"0","action":"auth","payload":{"token":"nobody","token":"wall"}}`, dispatch.CodeInvalidPayload},
		{"more than a token", `{"id":"0","action":"auth","payload":{"token":"wall","name":"desk"}}`, dispatch.CodeInvalidPayload},
		{"another action", `{"id":"0","action":"task.list","payload":{"token":"wall"}}`, dispatch.CodeForbidden},
		{"an internal action", `{"id":"0","action":"mcp.list_tasks","payload":{"token":"wall"}}`, dispatch.CodeForbidden},
		{"no JSON", `wall`, dispatch.CodeInvalidRequest},
		{"too large", `{"id":"0","action":"auth","payload":{"token":"` + strings.Repeat("x", maxAuth) + `"}}`, dispatch.CodeTooLarge},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := begin(t, nil)
			s.action(t, "task.list", dispatch.ScopeView, nil)
			s.action(t, "mcp.list_tasks", dispatch.ScopeView, nil)
			p := s.dial(t, "")
			reply := p.ask(t, c.message)
			if c.want == "" {
				assert.Equal(t, `{"id":"0","action":"auth","result":{"name":"wall","scopes":["view"],"server":"run-1"}}`, reply)
				assert.Contains(t, p.ask(t, `{"id":1,"action":"task.list"}`), `"result"`)
				assert.Equal(t, dispatch.CodeUnknownAction, codeOf(t, p.ask(t, c.message)), "only the first message is one")
				return
			}
			assert.Equal(t, c.want, codeOf(t, reply))
			assert.Equal(t, websocket.CloseError{Code: websocket.StatusPolicyViolation, Reason: "not authenticated"}, p.closed(t))
			assert.Empty(t, s.asked())
			assert.NotContains(t, s.log.String(), "wall")
		})
	}
}

func TestNoTokenInTime(t *testing.T) {
	s := begin(t, func(o *Options) { o.Limits.AuthTimeout = 20 * time.Millisecond })
	p := s.dial(t, "")
	assert.Equal(t, websocket.CloseError{Code: websocket.StatusPolicyViolation, Reason: "no token came in time"}, p.closed(t))
	s.dial(t, "s3cret").alive(t)
}

// What a token may not do is refused by the dispatcher; the connection lives on.
func TestScopes(t *testing.T) {
	s := begin(t, nil)
	s.action(t, "task.list", dispatch.ScopeView, nil)
	s.action(t, "task.stop", dispatch.ScopeOperate, nil)
	s.action(t, "permission.resolve", dispatch.ScopeAnswer, nil)
	p := s.dial(t, "wall")
	for _, action := range []string{"task.stop", "permission.resolve"} {
		assert.Equal(t, dispatch.CodeForbidden, codeOf(t, p.ask(t, `{"id":1,"action":"`+action+`"}`)))
	}
	assert.Empty(t, s.asked())
	assert.Contains(t, p.ask(t, `{"id":1,"action":"task.list"}`), `"result"`)
}

// G09, as far as the door goes: handlers are told who asks, and the error of what is
// somebody else's is handed on as it is.
func TestG09OthersIDs(t *testing.T) {
	s := begin(t, nil)
	s.action(t, "permission.resolve", dispatch.ScopeAnswer, resolveOwn)
	own, other := s.dial(t, "s3cret"), s.dial(t, "guest")
	const known, unknown = `{"id":1,"action":"permission.resolve","payload":{"task":"t1"}}`, `{"id":1,"action":"permission.resolve","payload":{"task":"none"}}`
	refused := other.ask(t, known)
	assert.Equal(t, dispatch.CodeNotFound, codeOf(t, refused))
	assert.Equal(t, other.ask(t, unknown), refused)
	assert.Equal(t, `{"id":1,"action":"permission.resolve","result":{"answered":true}}`, own.ask(t, known))
}

func TestDeletedToken(t *testing.T) {
	s := begin(t, nil)
	p, byMessage, other := s.dial(t, "s3cret"), s.dial(t, ""), s.dial(t, "wall")
	byMessage.ask(t, `{"id":"0","action":"auth","payload":{"token":"s3cret"}}`)
	s.people.remove("s3cret")
	s.DropToken("desk")
	for _, gone := range []*peer{p, byMessage} {
		assert.Equal(t, websocket.CloseError{Code: websocket.StatusPolicyViolation, Reason: "the token is deleted"}, gone.closed(t))
	}
	other.alive(t)
	_, answer, err := s.tryDial(t, http.Header{"Authorization": {"Bearer s3cret"}})
	require.Error(t, err)
	assert.Equal(t, 401, answer.StatusCode)
}

// A client that does not read what waits for it cannot act after its token is
// deleted; until then it can.
func TestDeletedTokenOfAStuckClient(t *testing.T) {
	s := begin(t, nil)
	s.watching(t, nil)
	cancelled := make(chan struct{}, 1)
	s.action(t, "task.stop", dispatch.ScopeOperate, nil)
	s.action(t, "task.prompt", dispatch.ScopeOperate, func(ctx context.Context, _ dispatch.Origin, _ jsontext.Value) (any, error) {
		<-ctx.Done()
		cancelled <- struct{}{}
		return nil, ctx.Err()
	})
	stuck := s.rawSocket(t)
	send := func(action string) {
		text := `{"id":1,"action":"` + action + `"}`
		_, err := stuck.Write(append([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...))
		require.NoError(t, err)
	}
	asked := func(n int) {
		require.Eventually(t, func() bool { return len(s.asked()) == n }, 10*time.Second, time.Millisecond)
	}
	send("state.watch")
	asked(1)
	c := s.clientOf("desk")
	text := strings.Repeat("x", 1<<20)
	require.Eventually(t, func() bool { // the socket is full, and more waits
		require.NoError(t, s.Publish(Event{Name: "task.text", Payload: text}))
		c.out.mu.Lock()
		defer c.out.mu.Unlock()
		return c.out.writing && len(c.out.queue) >= 2
	}, 10*time.Second, 5*time.Millisecond)
	send("task.stop")
	asked(2)
	send("task.prompt")
	asked(3)
	require.False(t, c.out.isOver(), "it is deleted, not slow")
	s.people.remove("s3cret")
	s.DropToken("desk")
	<-cancelled
	send("task.stop")
	<-c.gone // it has been read, and nothing after it is
	assert.Len(t, s.asked(), 3)
	require.NoError(t, stuck.Close())
}

func TestManyUnknownTokens(t *testing.T) {
	s := begin(t, nil)
	for range failBurst {
		answer, _ := s.get(t, "GET", "/api/actions", with("Authorization", "Bearer guess"))
		assert.Equal(t, 401, answer.StatusCode)
	}
	answer, body := s.get(t, "GET", "/api/actions", with("Authorization", "Bearer guess"))
	assert.Equal(t, 429, answer.StatusCode)
	assert.Equal(t, "too_many_unknown_tokens: too many unknown tokens came from there: wait a minute\n", body)
	p := s.dial(t, "")
	assert.Equal(t, dispatch.CodeRateLimited, codeOf(t, p.ask(t, `{"id":"0","action":"auth","payload":{"token":"guess"}}`)))
	answer, _ = s.get(t, "GET", "/api/actions", with("Authorization", "Bearer s3cret"))
	assert.Equal(t, 200, answer.StatusCode, "nobody can lock a known token out")
}

func TestRate(t *testing.T) {
	s := begin(t, func(o *Options) { o.Limits.Rate, o.Limits.Burst = 1e-9, 3 })
	s.action(t, "task.list", dispatch.ScopeView, nil)
	p, other := s.dial(t, "s3cret"), s.dial(t, "wall")
	for range 2 {
		assert.Contains(t, p.ask(t, `{"id":1,"action":"task.list"}`), `"result"`)
	}
	answer, _ := s.get(t, "GET", "/api/actions", with("Authorization", "Bearer s3cret"))
	assert.Equal(t, 200, answer.StatusCode)
	assert.Equal(t, dispatch.CodeRateLimited, codeOf(t, p.ask(t, `{"id":1,"action":"task.list"}`)))
	answer, _ = s.get(t, "GET", "/api/actions", with("Authorization", "Bearer s3cret"))
	assert.Equal(t, 429, answer.StatusCode)
	assert.NotEmpty(t, answer.Header.Get("Retry-After"))
	assert.Regexp(t, `reason=too_many_requests .* from=127.0.0.1 path=/api/actions token=desk\n`, s.log.String())
	assert.Contains(t, other.ask(t, `{"id":1,"action":"task.list"}`), `"result"`, "another token has its own")
	assert.Len(t, s.asked(), 3)
}

func TestLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(2, 3)
		for range 3 {
			assert.True(t, l.allow("a"))
		}
		assert.False(t, l.allow("a"))
		assert.True(t, l.allow("b"))
		time.Sleep(500 * time.Millisecond)
		assert.True(t, l.allow("a"))
		assert.False(t, l.allow("a"))
		time.Sleep(time.Hour)
		for range 3 {
			assert.True(t, l.allow("a"))
		}
		assert.False(t, l.allow("a"), "it never holds more than the burst")
	})
}

func TestLimiterIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(1, 2)
		for i := range 3 * maxBuckets {
			l.allow(string(rune(i)))
			assert.LessOrEqual(t, len(l.buckets), maxBuckets)
		}
		time.Sleep(time.Minute)
		for range 2 {
			assert.True(t, l.allow("busy"))
		}
		for i := range maxBuckets - 1 {
			l.allow(string(rune(i)))
		}
		assert.False(t, l.allow("busy"), "those that are full made room")
	})
}
