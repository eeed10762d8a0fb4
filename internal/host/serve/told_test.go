package serve

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/testlog"
	"github.com/kandev/assent/pipeline"
)

// While others are still being told of an offer, its answer is in no queue of the audit:
// nobody hears that it counts, neither at first nor when it is sent again. Then who
// answered hears it, or that the agent was gone.
func TestAnAnswerBeforeAllAreToldOfTheOffer(t *testing.T) {
	r := begin(t, nil)
	p := r.dial(r.token("desk", all))
	p.watch()
	made := p.start("hello", "shell")
	shown := p.opens(made.ID)
	known, ok := r.offers.find(pending.RequestID(shown.Request))
	require.True(t, ok)

	for _, sent := range []bool{true, false} {
		var out pending.Outcome
		request, err := r.store.Register(pending.Offer{
			Instance: known.instance, Result: pipeline.Result{Decision: pipeline.Decision{Verdict: pipeline.Pend}},
			Request: &pipeline.Request{SessionID: shown.Session, Options: []pipeline.Option{{ID: "no", Kind: pipeline.RejectOnce}}},
			Deliver: func(o pending.Outcome) error { out = o; return nil },
		})
		require.NoError(t, err)
		own := knownOffer{instance: known.instance, task: made.ID, over: &offerOver{done: make(chan struct{})}}
		r.offers.add(request, own)
		offer := wireOffer{Session: shown.Session, Request: string(request)}

		assert.Equal(t, "unavailable", p.refused("permission.resolve", offer.resolve(`{"choice":"deny"}`)))
		watcher{r.Server}.Answered(t.Context(), process.Answered{Instance: known.instance, Outcome: out, Sent: sent})
		if !sent {
			assert.Equal(t, "stale", p.refused("permission.resolve", offer.resolve(`{"choice":"deny"}`)))
			continue
		}
		var answered answeredResult
		p.ask("permission.resolve", offer.resolve(`{"choice":"deny"}`), &answered)
		assert.Equal(t, answeredResult{Answered: true, Already: true}, answered)
	}
}

// Who answers waits for the record, and no longer than is said.
func TestWaitingForTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{log: (&testlog.Buffer{}).Logger()}
		over := &offerOver{done: make(chan struct{}), sent: true}
		begun := time.Now()
		assert.ErrorIs(t, s.recorded(t.Context(), over, audit.Stats{}), errNotRecorded)
		assert.Equal(t, recordWithin, time.Since(begun))

		time.AfterFunc(time.Second, func() { close(over.done) })
		begun = time.Now()
		assert.NoError(t, s.recorded(t.Context(), over, audit.Stats{}))
		assert.Equal(t, time.Second, time.Since(begun))
	})
}
