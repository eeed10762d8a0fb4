package serve

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
)

// An offer that was over before anybody could see it is not among those that are
// remembered; one that was shown is.
func TestWhichEndedOffersAreRemembered(t *testing.T) {
	r := begin(t, nil)
	w := watcher{r.Server}
	for _, id := range []pending.RequestID{"unseen", "shown"} {
		r.offers.add(id, knownOffer{task: "task", over: &offerOver{done: make(chan struct{})}})
		if id == "shown" {
			r.offers.shown(id, pending.Action{})
		}
		w.Answered(t.Context(), process.Answered{Outcome: pending.Outcome{Key: pending.Key{Request: id}}})
	}
	closed := r.closed.all(func(closedView) bool { return true })
	assert.Len(t, closed, 1)
	assert.Equal(t, pending.RequestID("shown"), closed[0].Request)
}
