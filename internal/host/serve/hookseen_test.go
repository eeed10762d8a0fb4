package serve

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/task"
	"github.com/kandev/assent/pipeline"
)

// An offer waits for good once the webhook was taken; one that nobody was told of does
// not.
func TestAnOfferOfTheWebhookIsSeenOnceItIsTaken(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		seen   bool
	}{"taken": {http.StatusOK, true}, "refused": {http.StatusNotFound, false}, "a redirection": {http.StatusTemporaryRedirect, false}} {
		t.Run(name, func(t *testing.T) {
			receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(test.status) }))
			defer receiver.Close()
			t.Setenv("HOOK_KEY", "key")
			keeper := withKeeper(t)
			r := begin(t, func(c *Config) {
				keeper(c)
				c.Offers = Offers{NoSurfaceAfter: Duration(time.Second)}
				if test.seen {
					c.Offers = Offers{}
				}
				c.Webhook = Webhook{receiver.URL, "HOOK_KEY"}
			})
			told, running := make(chan struct{}, 1), r.surfaces.running
			r.surfaces.running = func() map[pending.InstanceID]task.ID {
				told <- struct{}{}
				return running()
			}
			p := r.dial(r.token("operator", []string{"operate"}))
			p.start("ask", "offer")
			if test.seen {
				<-told
				assert.Equal(t, 1, r.store.Len())
				return
			}
			require.Eventually(t, func() bool {
				for _, record := range r.records() {
					if record.Reason == "no_surface" {
						return true
					}
				}
				return false
			}, patience, tick)
			require.Eventually(t, func() bool { return r.log.Count("the webhook was not delivered") == 1 }, patience, tick)
			r.hook.close() // nothing is told any more
			assert.Empty(t, told)
		})
	}
}

// Who was told of an offer of an instance is there for that instance, and not for others,
// nor for one that is gone.
func TestForWhomTheWebhookTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Config{Webhook: Webhook{URL: "https://hook.example"}}
		store := pending.New(c.pending())
		defer store.Close()
		running := map[pending.InstanceID]task.ID{"told": "task", "other": "task"}
		s := &surfaces{store: store, running: func() map[pending.InstanceID]task.ID { return running }}
		open := map[pending.InstanceID]bool{}
		for _, id := range []pending.InstanceID{"told", "other", "gone"} {
			_, err := store.Register(pending.Offer{
				Instance: id, Result: pipeline.Result{Decision: pipeline.Decision{Verdict: pipeline.Pend}},
				Request: &pipeline.Request{SessionID: "s", Options: []pipeline.Option{{ID: "no", Kind: pipeline.RejectOnce}}},
				Deliver: func(pending.Outcome) error { delete(open, id); return nil },
			})
			require.NoError(t, err)
			open[id] = true
		}
		time.Sleep(hookWithin - time.Second)
		assert.Len(t, open, 3, "there was time to tell")
		s.told(offerView{Instance: "told"})
		s.told(offerView{Instance: "gone"})
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, map[pending.InstanceID]bool{"told": true}, open)
	})
}
