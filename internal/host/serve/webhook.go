package serve

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/kandev/assent/internal/host/dispatch"
)

// Headers of a call of the webhook. The signature is "v1=" and the HMAC-SHA256, in
// hex, of the timestamp, a dot and the body, with the shared key.
const (
	HeaderTimestamp = "Assent-Timestamp" // seconds since 1970, when the call was sent
	HeaderSignature = "Assent-Signature"
	HeaderDelivery  = "Assent-Delivery" // the same for each try of one call
)

// Bounds of the webhook.
const (
	hookCalls   = 256              // that are under way at once, from the first try to the last
	hookTries   = 6                // of one call
	hookTimeout = 10 * time.Second // of one try
	firstPause  = time.Second      // between two tries; it doubles
	// hookWithin is how long an offer is given to be told, unless the configuration says
	// otherwise: the first try is made at once, and all take a minute and a half at most.
	hookWithin = 2 * time.Minute
)

// webhook tells a URL of new offers, of each by itself: one that is not taken keeps no
// other waiting. It never holds up whoever has news: what finds no room is dropped, and
// that is in the log.
type webhook struct {
	taken  func(offerView) // called for each offer that somebody was told of
	url    string
	host   string // of the URL, which can hold a secret
	key    []byte
	run    string
	log    *slog.Logger
	client *http.Client
	ctx    context.Context // ends with the webhook
	cancel context.CancelFunc
	room   chan struct{} // one for each call that is under way
	full   sync.Once     // that there was no room is said once

	mu     sync.Mutex // held where calls grow and where they must not any more
	calls  sync.WaitGroup
	number uint64
}

// newWebhook makes what sends; nil without a URL. The key is the value of the variable
// that the configuration names.
func newWebhook(w Webhook, key, run string, log *slog.Logger, taken func(offerView)) (*webhook, error) {
	if w.URL == "" {
		return nil, nil
	}
	if key == "" {
		return nil, w.keyless()
	}
	u, err := url.Parse(w.URL)
	if err != nil {
		return nil, errors.New("webhook: url is no http or https URL") // its text would be in the error
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &webhook{
		taken: taken, url: w.URL, host: u.Host, key: []byte(key), run: run, log: log,
		ctx: ctx, cancel: cancel, room: make(chan struct{}, hookCalls),
		client: &http.Client{
			Timeout:   hookTimeout,
			Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConns: 1, IdleConnTimeout: time.Minute},
			// A signature is for one place.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	return h, nil
}

// keyless is the error of a webhook whose variable is empty.
func (w Webhook) keyless() error {
	return fmt.Errorf("webhook: the environment variable %s is empty: put the key into it that calls are signed with", w.SecretEnv)
}

// opened tells of a new offer, which is redacted, until over is closed; nil takes it and
// sends nothing.
func (h *webhook) opened(offer offerView, over <-chan struct{}) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return
	}
	select {
	case h.room <- struct{}{}:
	default:
		h.full.Do(func() { h.log.Warn("the webhook is slower than offers come: some are not told", "most", hookCalls) })
		return
	}
	h.number++
	id := h.run + "-" + strconv.FormatUint(h.number, 10)
	h.calls.Go(func() {
		defer func() { <-h.room }()
		h.send(id, offer, over)
	})
}

// close gives up what was not sent.
func (h *webhook) close() {
	if h == nil {
		return
	}
	h.mu.Lock()
	h.cancel()
	h.mu.Unlock()
	h.calls.Wait()
	h.client.CloseIdleConnections()
}

func (h *webhook) send(id string, offer offerView, over <-chan struct{}) {
	body, err := dispatch.Encode(struct {
		Event string    `json:"event"`
		Offer offerView `json:"offer"`
	}{"offer.opened", offer})
	if err != nil {
		h.log.Error("an offer cannot be written for the webhook", "error", fmt.Sprintf("%T", err))
		return
	}
	if h.deliver(h.log.With("offer", string(offer.Request), "host", h.host, "delivery", id), id, body, over) {
		h.taken(offer)
	}
}

// deliver tries until it is taken, refused for good, or tried often enough, or until the
// offer is over. The first and the last failure are warnings.
func (h *webhook) deliver(log *slog.Logger, id string, body []byte, over <-chan struct{}) (taken bool) {
	pause := firstPause
	for try := 1; ; try++ {
		select {
		case <-over:
			return false
		default:
		}
		err := h.post(h.ctx, id, body)
		if err == nil || h.ctx.Err() != nil {
			return err == nil
		}
		final := (*refusedError)(nil)
		if try == hookTries || errors.As(err, &final) && !final.worthTrying() {
			log.Warn("the webhook was not delivered", "tries", try, "why", err.Error())
			return false
		}
		level := slog.LevelWarn
		if try > 1 {
			level = slog.LevelInfo
		}
		log.Log(h.ctx, level, "the webhook was not taken; it is tried again", "try", try, "in", pause, "why", err.Error())
		select {
		case <-time.After(pause):
			pause *= 2
		case <-over:
			return false
		case <-h.ctx.Done():
			return false
		}
	}
}

// refusedError is an answer that is no success.
type refusedError struct{ status int }

func (e *refusedError) Error() string { return fmt.Sprintf("HTTP status %d", e.status) }

func (e *refusedError) worthTrying() bool {
	return e.status >= 500 || e.status == http.StatusTooManyRequests || e.status == http.StatusRequestTimeout
}

// errUnreached stands for every error of the network: their texts hold the URL.
var errUnreached = errors.New("it cannot be reached, or did not answer in time")

func (h *webhook) post(ctx context.Context, id string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return errUnreached
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "assent")
	r.Header.Set(HeaderTimestamp, at)
	r.Header.Set(HeaderSignature, Signature(h.key, at, body))
	r.Header.Set(HeaderDelivery, id)
	answer, err := h.client.Do(r)
	if err != nil {
		return errUnreached
	}
	_ = answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return &refusedError{answer.StatusCode}
	}
	return nil
}

// Signature is what [HeaderSignature] holds.
func Signature(key []byte, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(timestamp + "."))
	_, _ = mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}
