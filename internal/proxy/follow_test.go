package proxy

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline/acp"
)

// A session has ended its turn when none of its prompts is open, and is cancelled
// when all of them are.
func TestTurns(t *testing.T) {
	turns := newTurns()
	assert.False(t, turns.cancelling("a"), "nothing goes on")
	turns.cancel("a")
	assert.False(t, turns.cancelling("a"), "there was nothing to cancel")
	turns.begin("1", "a")
	turns.begin("2", "a")
	turns.begin("3", "b")
	turns.cancel("a")
	assert.True(t, turns.cancelling("a"))
	assert.False(t, turns.cancelling("b"))
	turns.begin("4", "a")
	assert.False(t, turns.cancelling("a"), "a new prompt was not cancelled")
	for _, c := range []struct {
		key, session string
		over         bool
	}{{"4", "a", false}, {"2", "a", false}, {"1", "a", true}, {"1", "", false}, {"3", "b", true}, {"9", "", false}} {
		session, over := turns.end(c.key)
		assert.Equal(t, c.session, session, c.key)
		assert.Equal(t, c.over, over, c.key)
	}
	assert.Empty(t, turns.cancelled)
	for n := range 2 * maxTurns {
		turns.begin(fmt.Sprint(n), "a")
	}
	assert.Len(t, turns.open, maxTurns)
}

func peek(t *testing.T, line string) acp.Frame {
	t.Helper()
	f, err := acp.Peek([]byte(line))
	require.NoError(t, err)
	return f
}

// What an answer settles: the session that was made or taken up, or none.
func TestSessionRequests(t *testing.T) {
	for name, c := range map[string]struct {
		asks, answers, session string
		ends                   bool
	}{
		"new":              {requestLine("1", "session/new", `{}`), resultLine("1", `{"sessionId":"made"}`), "made", false},
		"fork":             {requestLine("1", "session/fork", `{"sessionId":"s"}`), resultLine("1", `{"sessionId":"made"}`), "made", false},
		"load":             {requestLine("1", "session/load", `{"sessionId":"s"}`), resultLine("1", `{"sessionId":"other"}`), "s", false},
		"resume":           {requestLine("1", "session/resume", `{"sessionId":"s"}`), resultLine("1", `null`), "s", false},
		"new refused":      {requestLine("1", "session/new", `{}`), `{"id":1,"error":{"code":1}}`, "", false},
		"load refused":     {requestLine("1", "session/load", `{"sessionId":"s"}`), `{"id":1,"error":{"code":1}}`, "", false},
		"new of nothing":   {requestLine("1", "session/new", `{}`), resultLine("1", `{}`), "", false},
		"new twice named":  {requestLine("1", "session/new", `{}`), resultLine("1", `{"sessionId":"a","sessionId":"b"}`), "", false},
		"another spelling": {requestLine(`"a"`, "session/new", `{}`), resultLine(`"\u0061"`, `{"sessionId":"made"}`), "made", false},
		"close":            {requestLine("1", "session/close", `{"sessionId":"s"}`), resultLine("1", `{}`), "s", true},
		"delete":           {requestLine("1", "session/delete", `{"sessionId":"s"}`), resultLine("1", `null`), "s", true},
		"close refused":    {requestLine("1", "session/close", `{"sessionId":"s"}`), `{"id":1,"error":{"code":1}}`, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSessionRequests()
			require.True(t, s.begin(peek(t, c.asks), nil))
			_, ok := s.take(acp.NewID("99").Key(), peek(t, c.answers))
			assert.False(t, ok, "an answer to something else")
			f := peek(t, c.answers)
			done, ok := s.take(f.ID.Key(), f)
			assert.True(t, ok)
			assert.Equal(t, c.session, done.session)
			assert.Equal(t, c.ends, done.ends)
			_, ok = s.take(f.ID.Key(), f)
			assert.False(t, ok, "once")
		})
	}
	s := newSessionRequests()
	for n := range 2 * maxSessionRequests {
		assert.Equal(t, n < maxSessionRequests, s.begin(peek(t, requestLine(fmt.Sprint(n), "session/new", "{}")), nil))
		s.initialize(peek(t, requestLine(fmt.Sprint(n), "initialize", "{}")))
	}
	assert.Len(t, s.init, maxSessionRequests)
	s.initialize(peek(t, notificationLine("initialize", "{}")))
	assert.Len(t, s.init, maxSessionRequests)
}

// Requests of our own are bounded: an agent that never answers them is told no more.
func TestOwnRequestsAreBounded(t *testing.T) {
	w := newWire(t, agentID("claude-acp"), injecting("kandev"))
	told := 0
	for n := range maxOwn + 10 {
		id := fmt.Sprintf(`"new-%d"`, n)
		w.clientSays(requestLine(id, "session/new", `{"mcpServers":[]}`))
		w.agentSays(resultLine(id, modesV1(fmt.Sprint(n), "auto", "auto", "default")))
		if w.clientSays("") != "" {
			told++
		}
	}
	assert.Equal(t, maxOwn, told)
}
