package gateway

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stranger connects and sends nothing. Open says whether its connection still is.
func (s *stand) stranger(t *testing.T) (open func() bool) {
	t.Helper()
	conn, err := net.Dial("tcp", s.host)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return func() bool {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
		_, err := conn.Read(make([]byte, 1))
		late, ok := err.(net.Error)
		return ok && late.Timeout()
	}
}

// healthy asks over a new connection.
func (s *stand) healthy(t *testing.T) bool {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + s.host + "/healthz")
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	return assert.NoError(t, answer.Body.Close()) && answer.StatusCode == http.StatusOK
}

// Connections without a token make room for others, the oldest first, and not before they
// have to; those with one stay.
func TestTooManyConnections(t *testing.T) {
	s := begin(t, func(o *Options) { o.Limits.MaxConnections = 4 })
	client := s.dial(t, "s3cret")
	client.alive(t)
	first, second := s.stranger(t), s.stranger(t)
	assert.True(t, s.healthy(t))
	assert.True(t, first(), "there was room")
	assert.NotContains(t, s.log.String(), "too_many_connections")

	third := s.stranger(t)
	assert.True(t, s.healthy(t))
	assert.False(t, first())
	assert.True(t, second())
	assert.True(t, third())
	client.alive(t)
	assert.Contains(t, s.log.String(), "too_many_connections")
}

// Where all connections are of people, another one is refused until one of them leaves.
func TestTooManyConnectionsOfPeople(t *testing.T) {
	const auth = `{"id":"0","action":"auth","payload":{"token":"s3cret"}}`
	s := begin(t, func(o *Options) { o.Limits.MaxConnections = 2 })
	one, two := s.dial(t, "s3cret"), s.dial(t, "")
	assert.Contains(t, two.ask(t, auth), `"result"`)
	one.alive(t)
	two.alive(t)
	assert.False(t, s.healthy(t))
	one.alive(t)
	two.alive(t)
	require.NoError(t, one.conn.CloseNow())
	require.Eventually(t, func() bool { return s.healthy(t) }, 10*time.Second, time.Millisecond)
	two.alive(t)
}

// A request with a token keeps its connection for as long as it runs, over HTTP/1.1 and
// HTTP/2, whatever else has run on it.
func TestConnectionsOfRequestsThatRun(t *testing.T) {
	for name, two := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			s, d, client, url := newDeaf(t, two, 2)
			answer, body := open(t, client, url+"/mcp", "wall")
			<-d.begun
			for range 4 {
				s.stranger(t)
			}
			d.texts <- "news\n"
			line, err := body.ReadString('\n')
			require.NoError(t, err)
			assert.Equal(t, "news\n", line)
			require.NoError(t, answer.Body.Close())
		})
	}
}

// A connection whose last request is over is one without a token again.
func TestConnectionsOfRequestsThatAreOver(t *testing.T) {
	s := begin(t, func(o *Options) { o.Limits.MaxConnections = 1 })
	conn, err := net.Dial("tcp", s.host)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, "GET /api/actions HTTP/1.1\r\nHost: "+s.host+"\r\nAuthorization: Bearer s3cret\r\n\r\n")
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, answer.StatusCode)
	_, err = io.Copy(io.Discard, answer.Body)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return s.healthy(t) }, 10*time.Second, time.Millisecond)
}

// The default leaves files to others.
func TestDefaultOfConnections(t *testing.T) {
	most := connections()
	assert.GreaterOrEqual(t, most, leastConnections)
	if files, limited := openFiles(); limited {
		assert.LessOrEqual(t, uint64(most), max(files/2, leastConnections))
	}
	assert.Equal(t, most, Limits{}.orDefault().MaxConnections)
}
