package endpoint

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// openStream opens an SSE stream and gives the path for its messages.
func (b bench) openStream(t *testing.T, s *Session) (string, *bufio.Reader) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url("127.0.0.1", "/sse"), nil)
	require.NoError(t, err)
	res, err := httpClient(t, s.Authorization()).Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	require.Equal(t, http.StatusOK, res.StatusCode)
	lines := bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		if path, ok := strings.CutPrefix(line, "data: "); ok {
			return strings.TrimSpace(path), lines
		}
	}
}

func TestG14_AStreamContinuesWithItsOwnSecretAlone(t *testing.T) {
	b := open(t, Options{})
	mine, theirs := b.session(t), b.session(t)
	path, _ := b.openStream(t, mine)
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	post := func(s *Session) int {
		return b.raw(t, s, http.MethodPost, b.url("127.0.0.1", path), initialize, nil).status
	}
	assert.Equal(t, http.StatusNotFound, post(theirs))
	assert.Equal(t, http.StatusUnauthorized, post(nil))
	assert.Equal(t, http.StatusAccepted, post(mine))
	theirPath, _ := b.openStream(t, theirs)
	assert.NotEqual(t, path, theirPath)
}

func TestG14_AnotherSessionsSecretCountsForThatSessionAlone(t *testing.T) {
	b := open(t, Options{})
	first, second := b.session(t), b.session(t)
	require.NotEqual(t, first.ID(), second.ID())
	_, err := b.connect(t, first, "127.0.0.1", "/mcp", newest).ListTools(t.Context(), nil)
	require.NoError(t, err)
	_, err = call(t.Context(), b.connect(t, second, "127.0.0.1", "/sse", legacy), "list_tasks_kandev", nil, nil)
	require.NoError(t, err)

	tools, arrivals := b.seen.of(first.ID())
	assert.Len(t, tools, 2)
	assert.Empty(t, arrivals)
	tools, arrivals = b.seen.of(second.ID())
	assert.Empty(t, tools)
	assert.Equal(t, []Arrival{{Tool: "list_tasks_kandev"}}, arrivals)
}

func TestRevokeEndsOneSession(t *testing.T) {
	started := make(chan bool)
	b := open(t, Options{Tools: append(TaskTools(NewTaskList()), blocking(started))})
	gone, stays := b.session(t), b.session(t)
	_, stream := b.openStream(t, gone)
	other := b.connect(t, stays, "127.0.0.1", "/sse", legacy)
	running := b.connect(t, gone, "127.0.0.1", "/mcp", newest)
	ended := make(chan struct{})
	go func() {
		_, _ = call(t.Context(), running, "wait", nil, nil)
		close(ended)
	}()
	<-started

	b.Revoke(gone)
	b.Revoke(gone) // again is no error
	_, err := io.ReadAll(stream)
	require.NoError(t, err, "the stream ended")
	<-ended
	assert.Equal(t, http.StatusUnauthorized, b.raw(t, gone, http.MethodPost, b.url("127.0.0.1", "/mcp"), listTools, nil).status)
	_, err = call(t.Context(), other, "list_tasks_kandev", nil, nil)
	require.NoError(t, err)
}

func TestSecretsAreLongAndDiffer(t *testing.T) {
	b := open(t, Options{})
	seen := map[string]bool{}
	for range 1000 {
		s := b.session(t)
		raw, err := base64.RawURLEncoding.DecodeString(s.secret)
		require.NoError(t, err)
		require.Len(t, raw, 32)
		require.False(t, seen[s.secret])
		seen[s.secret] = true
	}
}

func TestConcurrentSessions(t *testing.T) {
	b := open(t, Options{})
	var group sync.WaitGroup
	names := hosts()
	failures := make(chan error, 32)
	sessions := make([]*Session, 32)
	for i := range sessions {
		s := b.session(t)
		sessions[i] = s
		path, version := "/mcp", newest
		if i%2 == 1 {
			path, version = "/sse", legacy
		}
		cs := b.connect(t, s, names[i%len(names)], path, version)
		group.Go(func() {
			for n := range 5 {
				if _, err := cs.ListTools(t.Context(), nil); err != nil {
					failures <- err
				}
				r, err := call(t.Context(), cs, "create_task_kandev", map[string]any{"title": strconv.Itoa(n)}, nil)
				if err != nil || r.IsError {
					failures <- errors.Join(errors.New("create"), err)
				}
			}
			if passing, err := b.NewSession(); err == nil { // sessions come and go meanwhile
				b.Revoke(passing)
			}
		})
	}
	group.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
	for _, s := range sessions {
		tools, arrivals := b.seen.of(s.ID())
		assert.Len(t, tools, 2)
		assert.Len(t, arrivals, 5)
	}
}

func TestSecretsAreNeverPrintedOrLogged(t *testing.T) {
	b := open(t, Options{})
	s := b.session(t)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		out := fmt.Sprintf(verb, s)
		assert.NotContains(t, out, s.secret)
		assert.NotContains(t, out, fmt.Sprintf("%x", s.secret))
	}
	b.logger.Info("x", "session", s)
	b.logger.Info("x", "sessions", []*Session{s})

	// Every way to be refused, with the secret in every place.
	target := b.url("127.0.0.1", "/mcp?token="+s.secret)
	for _, edit := range []func(*http.Request){
		func(r *http.Request) { r.Host = s.secret },
		func(r *http.Request) { r.Header.Set("Origin", s.secret) },
		func(r *http.Request) { r.Header.Set("Authorization", "Basic "+s.secret) },
		func(r *http.Request) { r.URL.Path = "/" + s.secret },
		func(r *http.Request) { r.Method = "PUT" },
		func(r *http.Request) { r.Header.Set("Content-Type", s.secret) },
	} {
		a := b.raw(t, s, http.MethodPost, target, listTools, edit)
		assert.GreaterOrEqual(t, a.status, 400)
		assert.NotContains(t, a.body, s.secret)
	}
	_, err := troubleLog{b.logger}.Write([]byte("http: panic serving 127.0.0.1:1: " + s.secret + "\ngoroutine 1"))
	require.NoError(t, err)
	_, err = troubleLog{b.logger}.Write([]byte("short"))
	require.NoError(t, err)
	assert.NotContains(t, b.logs.String(), s.secret)
	assert.Contains(t, b.logs.String(), refusedHost)
	assert.Contains(t, b.logs.String(), refusedOrigin)
	assert.Contains(t, b.logs.String(), refusedSecret)
}
