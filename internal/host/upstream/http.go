package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	maxRedirects   = 5
	deleteTimeout  = 2 * time.Second // for the target to note the end of a session
	maxConnections = 64              // idle ones that are kept for the next calls
)

// web sends the requests to one target. It adds the target's headers, where they
// belong, and bounds what comes back.
type web struct {
	target  *url.URL
	headers http.Header
	max     int64 // bytes of a body that is no stream
	next    *http.Transport
	version atomic.Pointer[string] // the agreed protocol version, once there is one
	status  atomic.Int32           // of the last answer, if it was above 399
}

func newWeb(t Target, limit int64) (*web, error) {
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, errors.New("upstream: the target's URL cannot be read")
	}
	next := http.DefaultTransport.(*http.Transport).Clone()
	next.MaxIdleConnsPerHost = maxConnections
	return &web{target: u, headers: t.Headers.Clone(), max: limit, next: next}, nil
}

// client follows a few redirects.
func (w *web) client() *http.Client {
	return &http.Client{Transport: w, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return &Failure{What: "redirects too often"}
		}
		return nil
	}}
}

// RoundTrip implements [http.RoundTripper].
func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := r.Context(), context.CancelFunc(func() {})
	if r.Method == http.MethodDelete {
		ctx, cancel = context.WithTimeout(ctx, deleteTimeout)
	}
	r = r.Clone(ctx)
	r.Header.Del("Referer") // after a redirect it would be the target's URL, which can hold a secret
	if version := w.version.Load(); version != nil && r.Header.Get("Mcp-Protocol-Version") == "" {
		r.Header.Set("Mcp-Protocol-Version", *version)
	}
	if r.URL.Scheme == w.target.Scheme && r.URL.Host == w.target.Host {
		for name, values := range w.headers {
			r.Header[http.CanonicalHeaderKey(name)] = values
			if http.CanonicalHeaderKey(name) == "Host" && len(values) == 1 {
				r.Host = values[0]
			}
		}
	}
	res, err := w.next.RoundTrip(r)
	if err != nil {
		cancel()
		return nil, err
	}
	w.status.Store(0)
	if res.StatusCode >= http.StatusBadRequest {
		w.status.Store(int32(res.StatusCode))
	}
	if mediaType(res.Header) != eventStream {
		res.Body = &bounded{res.Body, w.max, func() { w.status.Store(statusTooLarge) }}
	}
	if id, ok := ctx.Value(callKey{}).(jsonrpc.ID); ok && res.StatusCode < http.StatusMultipleChoices && mediaType(res.Header) == "application/json" {
		res.Body = &answering{ReadCloser: res.Body, id: id}
	}
	res.Body = &cancelling{res.Body, cancel}
	return res, nil
}

// statusTooLarge stands for an answer that was larger than allowed: the SDK keeps
// no error of a body.
const statusTooLarge = -1

// bounded fails when there is more than its bound.
type bounded struct {
	io.ReadCloser
	left     int64
	exceeded func()
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		b.left = 0
		b.exceeded()
		return 0, errTooLong
	}
	return n, err
}

// answering is a JSON body that has to answer a call. In the place of one that does not
// it is an error with the call's id: the SDK would hand it on, and the call would wait
// for ever. (A stream that ends without the answer ends the call with an error.)
type answering struct {
	io.ReadCloser
	id      jsonrpc.ID
	checked *bytes.Reader
}

func (a *answering) Read(p []byte) (int, error) {
	if a.checked == nil {
		body, err := io.ReadAll(a.ReadCloser)
		if err == nil && !answers(body, a.id) {
			body, err = jsonrpc.EncodeMessage(&jsonrpc.Response{ID: a.id, Error: &jsonrpc.Error{Code: CodeRejected, Message: strayAnswer.What}})
		}
		if err != nil {
			return 0, err
		}
		a.checked = bytes.NewReader(body)
	}
	return a.checked.Read(p)
}

// answers says whether a body answers the call. Of one that is no message the SDK
// says that.
func answers(body []byte, id jsonrpc.ID) bool {
	m, err := jsonrpc.DecodeMessage(body)
	if err != nil {
		return true
	}
	answer, ok := m.(*jsonrpc.Response)
	return ok && answer.ID == id
}

// cancelling ends its context when it is closed.
type cancelling struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (c *cancelling) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}
