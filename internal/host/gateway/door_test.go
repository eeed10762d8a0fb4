package gateway

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/dispatch"
)

// upgrade tries to connect a WebSocket with these headers, and returns the status.
func (s *stand) upgrade(t *testing.T, headers ...string) int {
	t.Helper()
	answer, _ := s.get(t, "GET", "/ws", with(append([]string{
		"Authorization", "Bearer s3cret", "Connection", "Upgrade", "Upgrade", "websocket",
		"Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==",
	}, headers...)...))
	return answer.StatusCode
}

func TestG10Origins(t *testing.T) {
	s := begin(t, nil)
	assert.Equal(t, 403, s.upgrade(t, "Origin", "https://evil.example"))
	assert.Equal(t, 403, s.upgrade(t, "Origin", "null"))
	assert.Equal(t, 403, s.upgrade(t, "Origin", ""))
	assert.Equal(t, 403, s.upgrade(t, "Origin", "http://"+s.host, "Origin", "https://evil.example"))
	p := s.dial(t, "s3cret") // without any
	p.alive(t)

	configured := begin(t, func(o *Options) { o.Origins = []string{"null", "https://Desk.example"} })
	for _, origin := range []string{"null", "https://desk.example"} {
		p, _, err := configured.tryDial(t, http.Header{"Authorization": {"Bearer s3cret"}, "Origin": {origin}})
		require.NoError(t, err, origin)
		p.alive(t)
	}
	assert.Equal(t, 403, configured.upgrade(t, "Origin", "https://evil.example"))
}

func TestG11OriginsThatLookAlike(t *testing.T) {
	s := begin(t, nil)
	_, port, err := net.SplitHostPort(s.host)
	require.NoError(t, err)
	for _, origin := range []string{
		"http://localhost.evil.io", "http://localhost.evil.io:" + port, "http://localhost:1", "http://evil-localhost", "http://evil-localhost:" + port,
		"http://localhost@evil.example", "http://" + s.host + "@evil.example", "https://" + s.host, "ws://" + s.host, "http://" + s.host + "/", "http://" + s.host + ".",
		"http://localhost:" + port /* another host than the one that is called */, "http://127.0.0.1", s.host, "file://",
	} {
		assert.Equal(t, 403, s.upgrade(t, "Origin", origin), origin)
	}
	assert.Equal(t, 403, s.upgrade(t, "Host", "localhost:"+port, "Origin", "http://"+s.host))
}

func TestG13OwnPage(t *testing.T) {
	s := begin(t, nil)
	_, port, err := net.SplitHostPort(s.host)
	require.NoError(t, err)
	s.action(t, "task.list", dispatch.ScopeView, nil)
	for _, host := range []string{"127.0.0.1:" + port, "localhost:" + port, "LOCALHOST:" + port, "[::1]:" + port} {
		assert.Equal(t, 101, s.upgrade(t, "Host", host, "Origin", "http://"+host), host)
	}
	answer, body := s.get(t, "GET", "/", nil)
	assert.Equal(t, 200, answer.StatusCode)
	assert.Contains(t, body, "<!doctype html>")
	p, _, err := s.tryDial(t, http.Header{"Origin": {"http://" + s.host}})
	require.NoError(t, err)
	assert.Equal(t, `{"id":"0","action":"auth","result":{"name":"desk","scopes":["view","operate","answer"],"server":"run-1"}}`,
		p.ask(t, `{"id":"0","action":"auth","payload":{"token":"s3cret"}}`))
	p.ask(t, `{"id":1,"action":"task.list"}`)
	person, _ := s.asked()[0].origin.Person()
	assert.Equal(t, "page", person.Surface)
}

// Every path is behind the same door.
func TestHosts(t *testing.T) {
	s := begin(t, func(o *Options) {
		o.MCP = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { say(w, 200, "mcp") })
		o.Hosts = []string{"box.lan", "proxy.example:443"}
	})
	_, port, err := net.SplitHostPort(s.host)
	require.NoError(t, err)
	for _, path := range []string{"/", "/healthz", "/readyz", "/ws", "/api/actions", "/mcp", "/mcp/sse", "/nothing"} {
		for _, host := range []string{"evil.example", "evil.example:" + port, "localhost", "localhost:1", "127.0.0.1.nip.io:" + port, "127.0.0.2:" + port, "proxy.example", "localhost.:" + port} {
			answer, body := s.get(t, "GET", path, with("Host", host, "Authorization", "Bearer s3cret"))
			assert.Equal(t, 403, answer.StatusCode, "%s of %s", path, host)
			assert.Regexp(t, `^host_not_allowed: .* add that host to hosts in its configuration\n$`, body)
			assert.NotContains(t, body, host+" ", "it is nothing of the request's")
		}
		answer, _ := s.get(t, "GET", path, with("Authorization", "Bearer s3cret", "Origin", "https://evil.example"))
		assert.Equal(t, 403, answer.StatusCode, path)
	}
	for _, host := range []string{s.host, "box.lan", "Box.lan:" + port, "proxy.example:443"} {
		for _, path := range []string{"/", "/healthz", "/readyz", "/api/actions", "/mcp", "/mcp/sse"} {
			answer, _ := s.get(t, "GET", path, with("Host", host, "Authorization", "Bearer s3cret", "Origin", "http://"+strings.ToLower(host)))
			assert.Equal(t, 200, answer.StatusCode, "%s of %s", path, host)
		}
	}
	assert.NotContains(t, s.log.String(), "evil")
	assert.Equal(t, 1, strings.Count(s.log.String(), "level=WARN msg=\"the gateway refused a request\" reason=host_not_allowed"))
	assert.Regexp(t, `level=WARN .* reason=host_not_allowed way=".* hosts in its configuration" from=127.0.0.1 path=/\n`, s.log.String())
	assert.NotContains(t, s.log.String(), "nothing", "a path that is none of ours")
}

type at string

func (a at) Network() string { return "tcp" }
func (a at) String() string  { return string(a) }

type listenerAt struct {
	net.Listener
	at at
}

func (l listenerAt) Addr() net.Addr { return l.at }

// Where it listens says which hosts are its own.
func TestHostsOfTheListener(t *testing.T) {
	cases := []struct {
		at     string
		tls    *tls.Config
		host   string
		origin string
		want   string
	}{
		{"127.0.0.1:80", nil, "localhost", "http://localhost", ""},
		{"127.0.0.1:80", nil, "localhost:80", "", ""},
		{"127.0.0.1:443", nil, "localhost", "", refusedHost},
		{"127.0.0.1:443", &tls.Config{}, "localhost", "https://localhost", ""},
		{"127.0.0.1:443", &tls.Config{}, "localhost", "http://localhost", refusedOrigin},
		{"192.168.1.5:8421", nil, "192.168.1.5:8421", "http://192.168.1.5:8421", ""},
		{"192.168.1.5:8421", nil, "192.168.1.6:8421", "", refusedHost},
		{"0.0.0.0:8421", nil, "0.0.0.0:8421", "", refusedHost},
		{"0.0.0.0:8421", nil, "192.168.1.5:8421", "", refusedHost},
		{"[::]:8421", nil, "[::1]:8421", "", ""},
		{"[fd00::1]:8421", nil, "[fd00::1]:8421", "", ""},
	}
	for _, c := range cases {
		d := newDoor(&Options{Listener: listenerAt{at: at(c.at)}, TLS: c.tls})
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		assert.Equal(t, c.want, d.refuses(r), "%+v", c)
	}
}

func TestSecurityHeaders(t *testing.T) {
	s := begin(t, nil)
	for path, status := range map[string]int{"/": 200, "/healthz": 200, "/api/actions": 401, "/nothing": 401} {
		answer, _ := s.get(t, "GET", path, nil)
		assert.Equal(t, status, answer.StatusCode, path)
		csp := answer.Header.Get("Content-Security-Policy")
		assert.Contains(t, csp, "frame-ancestors 'none'")
		assert.Contains(t, csp, "default-src 'none'; script-src 'self'; style-src 'self'")
		assert.NotContains(t, csp, "unsafe")
		assert.Equal(t, "nosniff", answer.Header.Get("X-Content-Type-Options"))
		assert.Equal(t, "no-referrer", answer.Header.Get("Referrer-Policy"))
		assert.Equal(t, "same-origin", answer.Header.Get("Cross-Origin-Opener-Policy"))
		assert.Empty(t, answer.Header.Values("Set-Cookie"))
		assert.Empty(t, answer.Header.Values("Access-Control-Allow-Origin"))
	}
}

func TestCheckListen(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "localhost:8421", "[::1]:8421", "127.0.0.9:1", "[::ffff:127.0.0.1]:1"} {
		assert.NoError(t, CheckListen(address, false, false), address)
	}
	for _, address := range []string{"0.0.0.0:8421", ":8421", "[::]:8421", "192.168.1.5:8421", "box.lan:8421", "localhost.evil.io:1"} {
		assert.ErrorContains(t, CheckListen(address, false, false), "TLS certificate, or say --insecure", address)
		assert.NoError(t, CheckListen(address, true, false), address)
		assert.NoError(t, CheckListen(address, false, true), address)
	}
	for _, address := range []string{"8421", "127.0.0.1:99999", "127.0.0.1:-1", "127.0.0.1:x y"} {
		assert.ErrorContains(t, CheckListen(address, true, true), "use one like 127.0.0.1:8421", address)
	}
}

func TestOpenRefuses(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	good := Options{Listener: listener, Dispatcher: dispatch.New(nil), Tokens: &people{}, MaySee: maySee}
	for says, change := range map[string]func(*Options){
		"no listener":   func(o *Options) { o.Listener = nil },
		"no dispatcher": func(o *Options) { o.Dispatcher = nil },
		"no tokens":     func(o *Options) { o.Tokens = nil },
		"may see":       func(o *Options) { o.MaySee = nil },
	} {
		opts := good
		change(&opts)
		_, err := Open(opts)
		assert.ErrorContains(t, err, says)
	}
	g, err := Open(good)
	require.NoError(t, err)
	require.NoError(t, g.Shutdown(t.Context()))
}
