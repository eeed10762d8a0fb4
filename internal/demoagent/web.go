package demoagent

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// webTransport sends the headers of a server's entry with every request to that
// server, and to no other: a server could name another address.
type webTransport struct {
	server  *url.URL
	headers []nameValue
	next    *http.Transport
	status  atomic.Int64 // of the last response; unreachable if there was none
}

// newWebTransport makes a transport whose connections end with life.
func newWebTransport(life context.Context, server *url.URL, headers []nameValue) *webTransport {
	dialer := &net.Dialer{Timeout: connectTimeout}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return mortalConn{Conn: conn, spare: context.AfterFunc(life, func() { _ = conn.Close() })}, nil
	}
	return &webTransport{
		server: server, headers: headers,
		next: &http.Transport{DialContext: dial, TLSHandshakeTimeout: connectTimeout, IdleConnTimeout: time.Minute},
	}
}

// client follows no redirects.
func (t *webTransport) client() *http.Client {
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// RoundTrip adds the headers.
func (t *webTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == t.server.Scheme && r.URL.Host == t.server.Host {
		r = r.Clone(r.Context())
		for _, h := range t.headers {
			r.Header.Del(h.Name)
		}
		for _, h := range t.headers {
			r.Header.Add(h.Name, h.Value)
		}
	}
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		t.status.Store(unreachable)
		return nil, err
	}
	t.status.Store(int64(resp.StatusCode))
	return resp, nil
}

// unreachable stands for a status where no response came.
const unreachable = -1

// mortalConn ends with a context.
type mortalConn struct {
	net.Conn
	spare func() bool // lets the connection outlive the context
}

// Close closes the connection.
func (c mortalConn) Close() error {
	c.spare()
	return c.Conn.Close()
}
