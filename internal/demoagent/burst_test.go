package demoagent

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// firstAllow gives the first allow, or says "cancelled" where there is none.
func firstAllow(o *acp.Offer) string {
	for _, option := range o.Request.Options {
		if option.Kind == pipeline.AllowOnce {
			return selects(option.ID)
		}
	}
	return answerCancelled
}

func TestABurstTakesEveryAnswer(t *testing.T) {
	ran, servers := twoServers(t)
	c := start(t, Options{})
	c.open(servers...)
	got := c.prompt("burst 320", firstAllow)
	assert.Len(t, got.asked, 320)
	assert.Len(t, ran.all(), 40, "one in eight is a real call")
	assert.Contains(t, got.said, "Burst: asked 320 times, allowed 300 times.", "one in sixteen offers nothing")
	taken, foreign, long := 0, 0, 0
	for _, f := range got.frames {
		switch {
		case f.Method == acp.MethodCancelRequest:
			taken++
		case f.Offer != nil && f.Offer.Request.SessionID == c.session+"-sub":
			foreign++
		case f.Offer != nil && len(f.line) > longInput:
			long++
		}
	}
	assert.Equal(t, []int{40, 20, 3}, []int{taken, foreign, long})
	assert.Equal(t, 20, count(got.ends, "failed"))
	require.NoError(t, c.end())
}

// A burst that is cancelled ends: what is open is answered by the client, and
// nothing more is asked.
func TestABurstCanBeCancelled(t *testing.T) {
	c := start(t, Options{})
	c.open()
	id := c.request("session/prompt", promptParams(c.session, "burst 100000"))
	asked := 0
	got := c.play(id, func(*acp.Offer) string {
		if asked++; asked == 10 {
			c.sendf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%s}}`, toJSON(c.session))
		}
		return answerCancelled
	})
	assert.Equal(t, "cancelled", got.stop)
	assert.Less(t, asked, 100_000)
	require.NoError(t, c.end())
}

func TestABurstNeedsANumber(t *testing.T) {
	c := start(t, Options{})
	c.open()
	for _, said := range []string{"burst", "burst 0", "burst -1", "burst 100001", "burst many", "burst 1 2"} {
		got := c.prompt(said, firstAllow)
		assert.Empty(t, got.asked)
		assert.Contains(t, got.said, "the number behind the word must be 1 to 100000", said)
	}
}
