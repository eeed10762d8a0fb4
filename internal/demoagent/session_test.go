package demoagent

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline/acp"
)

// updates are those of a session, without their message ids.
func updates(frames []incomingFrame) (all []object) {
	for _, f := range frames {
		if f.Method == acp.MethodUpdate {
			all = append(all, f.object["params"].(object)["update"].(object))
		}
	}
	return all
}

func TestLoadReplaysBeforeItAnswers(t *testing.T) {
	_, servers := twoServers(t)
	c := start(t, Options{})
	c.open(servers...)
	played := updates(c.prompt("plan hello", always(selects("allow-once"))).frames)

	id := c.request("session/load", object{"sessionId": c.session, "cwd": t.TempDir(), "mcpServers": servers[1:]})
	var frames []incomingFrame
	for {
		f := c.next()
		if f.Kind == acp.KindResponse {
			require.Equal(t, id, f.ID.String())
			require.Equal(t, object{}, f.object["result"])
			break
		}
		frames = append(frames, f)
	}
	replayed := updates(frames)
	require.NotEmpty(t, replayed)
	assert.Equal(t, object{"sessionUpdate": "user_message_chunk", "content": object{"type": "text", "text": "plan hello"}}, replayed[0])
	assert.Equal(t, played, replayed[1:])

	got := c.prompt("plan", always(selects("allow-once")))
	assert.Contains(t, got.said, `no server "kandev" is connected`, "the servers of the new list count")
	require.NoError(t, c.end())
}

func TestHistoryIsBounded(t *testing.T) {
	s := &session{}
	long := []byte(`"` + strings.Repeat("x", maxHistory/3) + `"`)
	for range 10 {
		s.remember(long)
	}
	s.remember([]byte(`"last"`))
	kept := s.recall()
	require.Len(t, kept, 3)
	assert.Equal(t, `"last"`, string(kept[2]))
	assert.LessOrEqual(t, s.size, maxHistory)
}

func TestSessionsAreBounded(t *testing.T) {
	var all sessions
	for range maxSessions {
		require.True(t, all.add(&session{id: newSessionID()}))
	}
	assert.False(t, all.add(&session{id: "one more"}))
	assert.Nil(t, all.find("one more"))
	all.close()
	assert.False(t, (&sessions{closed: true}).add(&session{}))
}

func TestSessionIDs(t *testing.T) {
	a, b := newSessionID(), newSessionID()
	assert.NotEqual(t, a, b)
	assert.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, a)
}
