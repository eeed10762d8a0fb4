package proxy

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/record"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// What is relayed before it is decided is never anything but a question: of every
// recorded offer, in the state that the traffic before it has left.
func TestWhatIsRelayedAtOnceIsAQuestion(t *testing.T) {
	quick, slow := 0, 0
	eachRecording(t, func(t *testing.T, agent string, lines []recorded) {
		w := newWire(t, agentID(agent), injecting("kandev"))
		for _, l := range lines {
			line := []byte(l.line())
			if l.Dir == record.FromClient {
				w.relay.gate.fromClient(line, []string{""})
				continue
			}
			messages, err := w.relay.gate.fromAgent(line)
			asked, ok := acp.QuickAsk(line)
			if err != nil || messages[0].Offer == nil {
				assert.False(t, ok, "it is no offer")
				continue
			}
			if !ok {
				slow++
				continue
			}
			quick++
			assert.Equal(t, messages[0].Offer.ID, asked.ID)
			_, _, r := w.relay.gate.decide(t.Context(), messages, "")
			assert.Equal(t, pipeline.Pend, r.Decision.Verdict)
		}
	})
	require.NotZero(t, quick)
	require.NotZero(t, slow)
}

// An offer that is relayed at once is answered, cancelled and recorded like any other.
func TestAnOfferThatIsRelayedAtOnce(t *testing.T) {
	w := newWire(t, explaining)
	_, ok := acp.QuickAsk([]byte(offerLine("1", "s", "Bash")))
	require.True(t, ok)
	w.asks(offerLine("1", "s", "Bash"))
	assert.Contains(t, w.stderr.read(), "offer 1: asked, stage pending, reason name_without_mcp_prefix")
	assert.Equal(t, selectedLine("1", "once"), w.clientSays(selectedLine("1", "once")))
	assert.Empty(t, w.clientSays(selectedLine("1", "once")))
	w.asks(offerLine("2", "s", "Bash"))
	assert.Equal(t, cancelOf("s")+cancelledLine("2"), w.clientSays(cancelOf("s")))
	assert.Empty(t, w.clientSays(cancelledLine("2")), "its answer was owed")

	// Twins: with blanket approval, and with an id in use, nothing is relayed at once.
	w.asks(offerLine("3", "s", "Bash"))
	w.answers(offerLine("3", "s", "Bash"), cancelledLine("3"))
	blanket := newWire(t, approving)
	blanket.answers(offerLine("1", "s", "Bash"), selectedLine("1", "once"))
}
