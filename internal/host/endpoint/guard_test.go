package endpoint

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ports fills in the endpoint's port for P.
func (b bench) ports(s string) string { return strings.ReplaceAll(s, "P", strconv.Itoa(b.Port())) }

func TestG10_G11_G14_OriginsOfWebPagesAreRefused(t *testing.T) {
	b := open(t, Options{})
	s := b.session(t)
	rows := []struct {
		origins []string
		status  int
	}{
		{nil, 200}, // G10: command-line clients
		{[]string{"http://localhost:P"}, 200},
		{[]string{"http://127.0.0.1:P"}, 200},
		{[]string{"http://[::1]:P"}, 200},
		{[]string{"https://evil.example"}, 403},
		{[]string{"null"}, 403},
		{[]string{""}, 403},
		{[]string{"http://localhost.evil.io"}, 403}, // G11 from here
		{[]string{"http://localhost.evil.io:P"}, 403},
		{[]string{"http://localhost:1"}, 403},
		{[]string{"http://localhost"}, 403},
		{[]string{"http://evil-localhost"}, 403},
		{[]string{"http://evil-localhost:P"}, 403},
		{[]string{"http://localhost@evil.example"}, 403},
		{[]string{"http://localhost:P@evil.example"}, 403},
		{[]string{"https://localhost:P"}, 403},
		{[]string{"HTTP://LOCALHOST:P"}, 403},
		{[]string{"http://localhost:P/"}, 403},
		{[]string{"http://localhost:0P"}, 403},
		{[]string{"http://127.0.0.2:P"}, 403},
		{[]string{"http://0.0.0.0:P"}, 403},
		{[]string{"file://"}, 403},
		{[]string{"http://localhost:P, https://evil.example"}, 403},
		{[]string{"http://localhost:P", "https://evil.example"}, 403},
		{[]string{"http://localhost:P", "http://localhost:P"}, 403},
	}
	for _, r := range rows {
		for _, host := range hosts() {
			a := b.raw(t, s, http.MethodPost, b.url(host, "/mcp"), listTools, func(req *http.Request) {
				for _, o := range r.origins {
					req.Header.Add("Origin", b.ports(o))
				}
			})
			assert.Equal(t, r.status, a.status, "%q at %s: %s", r.origins, host, a.body)
		}
	}
}

func TestG14_HostsOfWebPagesAreRefused(t *testing.T) {
	b := open(t, Options{})
	s := b.session(t)
	rows := map[string]int{
		"localhost:P": 200, "127.0.0.1:P": 200, "[::1]:P": 200,
		"localhost": 403, "127.0.0.1": 403, "localhost:1": 403, "localhost:0P": 403,
		"evil.example": 403, "evil.example:P": 403, "localhost.evil.io:P": 403, "evil-localhost:P": 403,
		"127.0.0.1.evil.io:P": 403, "0.0.0.0:P": 403, "[::]:P": 403, "[::ffff:127.0.0.1]:P": 403, "127.0.0.2:P": 403,
		"LOCALHOST:P": 403, "localhost.:P": 403,
	}
	for host, want := range rows {
		for _, path := range []string{"/mcp", "/sse"} {
			method, ok := http.MethodPost, want == 200
			a := b.raw(t, s, method, b.url("127.0.0.1", path), listTools, func(r *http.Request) { r.Host = b.ports(host) })
			if ok && path == "/sse" {
				want = http.StatusBadRequest // let in: a POST to /sse needs the stream's id
			}
			assert.Equal(t, want, a.status, "%s%s: %s", host, path, a.body)
		}
	}
}

func TestG14_WithoutAKnownSecretNobodyGetsIn(t *testing.T) {
	b := open(t, Options{})
	s, revoked, other := b.session(t), b.session(t), open(t, Options{})
	b.Revoke(revoked)
	foreign := other.session(t)
	rows := []struct {
		name          string
		authorization []string
		status        int
	}{
		{"the session's own", []string{s.Authorization()}, 200},
		{"the scheme in small letters", []string{"bearer " + s.secret}, 200},
		{"none", nil, 401},
		{"empty", []string{""}, 401},
		{"scheme alone", []string{"Bearer"}, 401},
		{"no secret", []string{"Bearer "}, 401},
		{"another scheme", []string{"Basic " + s.secret}, 401},
		{"no scheme", []string{s.secret}, 401},
		{"two spaces", []string{"Bearer  " + s.secret}, 401},
		{"a prefix", []string{"Bearer " + s.secret[:42]}, 401},
		{"one character more", []string{"Bearer " + s.secret + "A"}, 401},
		{"redacted", []string{"Bearer redacted"}, 401},
		{"revoked", []string{revoked.Authorization()}, 401},
		{"of another endpoint", []string{foreign.Authorization()}, 401},
		{"two headers", []string{s.Authorization(), s.Authorization()}, 401},
		{"two in one header", []string{s.Authorization() + ", " + s.Authorization()}, 401},
	}
	for _, r := range rows {
		for _, path := range []string{"/mcp", "/sse", "/", "/.well-known/oauth-protected-resource"} {
			for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete, http.MethodOptions} {
				if r.status != 401 && (path != "/mcp" || method != http.MethodPost) {
					continue
				}
				a := b.raw(t, nil, method, b.url("127.0.0.1", path), listTools, func(req *http.Request) {
					for _, v := range r.authorization {
						req.Header.Add("Authorization", v)
					}
				})
				assert.Equal(t, r.status, a.status, "%s: %s %s", r.name, method, path)
				if r.status == 401 {
					assert.Equal(t, []string{"Bearer"}, a.header.Values("WWW-Authenticate"))
				}
			}
		}
	}
	// The secret counts in its header alone.
	a := b.raw(t, nil, http.MethodPost, b.url("127.0.0.1", "/mcp?access_token="+s.secret), listTools, nil)
	assert.Equal(t, 401, a.status)
}

func TestOtherPathsAndMethods(t *testing.T) {
	b := open(t, Options{})
	s := b.session(t)
	for _, path := range []string{"/", "/mcp/", "/MCP", "/mcp/x", "/message", "//mcp"} {
		assert.Equal(t, http.StatusNotFound, b.raw(t, s, http.MethodPost, b.url("127.0.0.1", path), listTools, nil).status, path)
	}
	for _, path := range []string{"/mcp", "/sse"} {
		for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodOptions} {
			assert.Equal(t, http.StatusMethodNotAllowed, b.raw(t, s, method, b.url("127.0.0.1", path), "", nil).status, method+path)
		}
	}
	assert.Equal(t, http.StatusMethodNotAllowed, b.raw(t, s, http.MethodGet, b.url("127.0.0.1", "/mcp"), "", nil).status)
}

func TestBodiesAreBounded(t *testing.T) {
	b := open(t, Options{MaxBody: 1000})
	s := b.session(t)
	padded := func(n int) string { return listTools + strings.Repeat(" ", n-len(listTools)) }
	for _, chunked := range []bool{false, true} {
		edit := func(r *http.Request) {
			if chunked {
				r.ContentLength = -1
			}
		}
		for _, path := range []string{"/mcp", "/sse"} {
			a := b.raw(t, s, http.MethodPost, b.url("127.0.0.1", path), padded(1001), edit)
			assert.Equal(t, http.StatusRequestEntityTooLarge, a.status)
		}
		assert.Equal(t, http.StatusOK, b.raw(t, s, http.MethodPost, b.url("127.0.0.1", "/mcp"), padded(1000), edit).status)
	}
	a := b.raw(t, s, http.MethodPost, b.url("127.0.0.1", "/mcp"), listTools, func(r *http.Request) {
		r.Header.Set("X-Long", strings.Repeat("x", maxHeaderBytes+8<<10))
	})
	assert.Equal(t, http.StatusRequestHeaderFieldsTooLarge, a.status)
}

// Who is refused is answered at once: its body is not waited for.
func TestRefusalsDoNotWaitForTheBody(t *testing.T) {
	b := open(t, Options{})
	conn, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(b.Port()))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost:%d\r\nContent-Length: 100000000\r\n\r\n", b.Port())
	require.NoError(t, err)
	line, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "HTTP/1.1 401 Unauthorized\r\n", line)
}

func TestBrokenBodies(t *testing.T) {
	b := open(t, Options{})
	s := b.session(t)
	for _, body := range []string{"", "{", "[]", "null", `{"jsonrpc":"2.0"}`, "\xff", strings.Repeat("[", 100000)} {
		a := b.raw(t, s, http.MethodPost, b.url("127.0.0.1", "/mcp"), body, nil)
		assert.Equal(t, http.StatusBadRequest, a.status, "%.40q: %s", body, a.body)
	}
	assert.Equal(t, http.StatusOK, b.raw(t, s, http.MethodPost, b.url("127.0.0.1", "/mcp"), listTools, nil).status)
}

func TestDefaultPortIsLeftOutByClients(t *testing.T) {
	e := newEndpoint(Options{Logger: open(t, Options{}).logger}, 80)
	defer e.cancel()
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]", "localhost:80"} {
		assert.True(t, e.hosts[host])
		assert.True(t, e.origins["http://"+host])
	}
}
