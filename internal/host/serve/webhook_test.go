package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/task"
	"github.com/kandev/assent/internal/testlog"
)

// A new offer is told, signed and redacted, also when nobody has ever connected: the
// offer then waits for whoever comes.
func TestTheWebhookTellsOfAnOffer(t *testing.T) {
	type call struct {
		header http.Header
		body   []byte
	}
	calls := make(chan call, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls <- call{r.Header, body}
	}))
	defer receiver.Close()
	t.Setenv("HOOK_KEY", "key")
	keeper := withKeeper(t)
	r := begin(t, func(c *Config) {
		keeper(c)
		c.Webhook = Webhook{receiver.URL, "HOOK_KEY"}
	})
	p := r.dial(r.token("desk", all))
	made := p.start("ask", "offer")
	got := <-calls
	var told struct {
		Event string    `json:"event"`
		Offer wireOffer `json:"offer"`
	}
	require.NoError(t, json.Unmarshal(got.body, &told))
	assert.Equal(t, "offer.opened", told.Event)
	assert.Equal(t, string(made.ID), told.Offer.Task)
	assert.NotContains(t, string(got.body), hiddenWord)
	at := got.header.Get(HeaderTimestamp)
	seconds, err := strconv.ParseInt(at, 10, 64)
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now(), time.Unix(seconds, 0), patience)
	assert.Equal(t, Signature([]byte("key"), at, got.body), got.header.Get(HeaderSignature))
	assert.NotEqual(t, Signature([]byte("other"), at, got.body), got.header.Get(HeaderSignature))
	assert.NotEqual(t, Signature([]byte("key"), at+"0", got.body), got.header.Get(HeaderSignature))
	p.ask("permission.resolve", told.Offer.resolve(`{"choice":"deny"}`), nil)
}

// Without the webhook an offer that nobody could see is cancelled after its time.
func TestAnOfferThatNobodyCouldSee(t *testing.T) {
	r := begin(t, func(c *Config) { c.Offers = Offers{NoSurfaceAfter: Duration(time.Nanosecond)} })
	operator := r.dial(r.token("operator", []string{"operate"}))
	made := operator.start("ask", "shell")
	require.Eventually(t, func() bool {
		for _, record := range r.records() {
			if record.Reason == "no_surface" {
				return true
			}
		}
		return false
	}, patience, tick)
	p := r.dial(r.token("desk", all))
	p.watch()
	p.ask("task.prompt", fmt.Sprintf(`{"task":%q,"text":"shell"}`, made.ID), nil)
	p.ask("permission.resolve", p.opens(made.ID).resolve(`{"choice":"deny"}`), nil)
}

// A person who is limited to tasks is a surface for these alone.
func TestALimitedPersonIsASurfaceForTheirTasks(t *testing.T) {
	r := begin(t, func(c *Config) { c.Offers = Offers{NoSurfaceAfter: Duration(time.Nanosecond)} })
	operator := r.dial(r.token("operator", []string{"operate"}))
	mine, theirs := operator.start("mine", ""), operator.start("theirs", "")
	guest := r.dial(r.token("guest", all, string(mine.ID)))
	guest.watch()
	for _, made := range []wireTask{mine, theirs} {
		operator.ask("task.prompt", fmt.Sprintf(`{"task":%q,"text":"shell"}`, made.ID), nil)
	}
	offer := guest.opens(mine.ID)
	require.Eventually(t, func() bool {
		return len(r.openOffers(func(id task.ID) bool { return id == theirs.ID })) == 0 && r.store.Len() == 1
	}, patience, tick)
	guest.ask("permission.resolve", offer.resolve(`{"choice":"deny"}`), nil)
}

// answering is a transport that answers by itself.
type answering func(n int) (status int, err error)

type answers struct {
	mu    sync.Mutex
	times []time.Time
	ids   map[string]bool
	next  answering
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.times = append(a.times, time.Now())
	a.ids[r.Header.Get(HeaderDelivery)] = true
	status, err := a.next(len(a.times))
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Body: http.NoBody, Request: r}, nil
}

func TestTheWebhookTriesAgain(t *testing.T) {
	const second = time.Second
	for name, test := range map[string]struct {
		next answering
		at   []time.Duration // of the tries
		logs int             // lines: the first failure that is tried again, and others, and the last one
		// Taken says that somebody was told.
		taken bool
	}{
		"taken":              {func(int) (int, error) { return 204, nil }, []time.Duration{0}, 0, true},
		"once more":          {func(n int) (int, error) { return 503 - 303*(n/2), nil }, []time.Duration{0, second}, 1, true},
		"never":              {func(int) (int, error) { return 0, errors.New("https://s3cret") }, []time.Duration{0, second, 3 * second, 7 * second, 15 * second, 31 * second}, 6, false},
		"refused for good":   {func(int) (int, error) { return 404, nil }, []time.Duration{0}, 1, false},
		"a redirection":      {func(int) (int, error) { return 302, nil }, []time.Duration{0}, 1, false},
		"too many, for once": {func(n int) (int, error) { return 429 - 229*(n/2), nil }, []time.Duration{0, second}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log testlog.Buffer
				var taken []offerView
				h, err := newWebhook(Webhook{URL: "https://bob:s3cret@hook.example/s3cret", SecretEnv: "X"}, "key", "run", log.Logger(), func(o offerView) { taken = append(taken, o) })
				require.NoError(t, err)
				a := &answers{ids: map[string]bool{}, next: test.next}
				h.client.Transport = a
				began := time.Now()
				h.opened(offerView{Request: "r-1"}, nil)
				time.Sleep(time.Minute)
				h.close()
				var at []time.Duration
				for _, each := range a.times {
					at = append(at, each.Sub(began))
				}
				assert.Equal(t, test.at, at)
				if test.taken {
					assert.Equal(t, []offerView{{Request: "r-1"}}, taken)
				} else {
					assert.Empty(t, taken, "nobody was told")
				}
				assert.Len(t, a.ids, 1, "each try has the same id")
				assert.Equal(t, test.logs, log.Count("offer=r-1 host=hook.example"))
				assert.Equal(t, min(test.logs, 2), log.Count("level=WARN"), "the first and the last")
				assert.NotContains(t, log.String(), "s3cret")
			})
		})
	}
}

// Whoever has news never waits for the webhook.
func TestTheWebhookHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log testlog.Buffer
		h, err := newWebhook(Webhook{URL: "https://hook.example", SecretEnv: "X"}, "key", "run", log.Logger(), func(offerView) { assert.Fail(t, "nobody was told") })
		require.NoError(t, err)
		h.client.Transport = hanging{}
		for range 3 * hookCalls {
			h.opened(offerView{Request: "r-1"}, nil)
		}
		assert.Contains(t, log.String(), "slower than offers come")
		h.close()
	})
	_, err := newWebhook(Webhook{URL: "https://hook.example", SecretEnv: "X"}, "", "run", nil, nil)
	assert.ErrorContains(t, err, "environment variable X is empty")
	none, err := newWebhook(Webhook{}, "", "run", nil, nil)
	assert.NoError(t, err)
	none.opened(offerView{}, nil)
	none.close()
}

// Each offer is tried at once, whatever becomes of those before it, and one that is over
// is tried no more.
func TestTheWebhookTellsOfEachOfferByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log testlog.Buffer
		h, err := newWebhook(Webhook{URL: "https://hook.example", SecretEnv: "X"}, "key", "run", log.Logger(), func(offerView) { assert.Fail(t, "nobody was told") })
		require.NoError(t, err)
		a := &answers{ids: map[string]bool{}, next: func(int) (int, error) { return 503, nil }}
		h.client.Transport = a
		began, over := time.Now(), make(chan struct{})
		h.opened(offerView{Request: "r-1"}, over)
		h.opened(offerView{Request: "r-2"}, make(chan struct{}))
		ended := make(chan struct{})
		close(ended)
		h.opened(offerView{Request: "r-3"}, ended)
		time.AfterFunc(2*time.Second, func() { close(over) })
		time.Sleep(hookWithin)
		h.opened(offerView{Request: "r-4"}, nil)
		synctest.Wait()
		h.close()
		h.opened(offerView{Request: "r-5"}, nil)
		var at []time.Duration
		for _, each := range a.times {
			at = append(at, each.Sub(began)/time.Second)
		}
		assert.Equal(t, []time.Duration{0, 0, 1, 1, 3, 7, 15, 31, 120}, at, "the first offer is over after its second try")
		assert.Equal(t, map[string]bool{"run-1": true, "run-2": true, "run-4": true}, a.ids)
		assert.Equal(t, 1, log.Count("the webhook was not delivered"))
	})
}

// hanging is a receiver that never answers.
type hanging struct{}

func (hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}
