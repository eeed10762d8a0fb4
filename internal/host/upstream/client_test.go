package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// heard collects what a target sends on its own.
type heard struct{ methods chan string }

func (h heard) Notification(_ context.Context, method string, _ json.RawMessage) { h.methods <- method }

func (h heard) Request(context.Context, string, json.RawMessage) (any, error) {
	return nil, errors.New("nobody to ask")
}

// target serves an SDK server of one tool, which is slow or not.
func target(t *testing.T) (*mcp.Server, Target) {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "t", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "a", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{}, nil
	})
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(func() {
		for ss := range s.Sessions() {
			_ = ss.Close()
		}
		h.CloseClientConnections()
		h.Close()
	})
	return s, Target{URL: h.URL}
}

func TestClientSaysWhoItIsAndEndsItsSession(t *testing.T) {
	s, at := target(t)
	c, err := Open(t.Context(), at, Options{Version: "1.2.3", Handler: heard{}})
	require.NoError(t, err)
	for ss := range s.Sessions() {
		assert.Equal(t, "assent", ss.InitializeParams().ClientInfo.Name)
		assert.Equal(t, "1.2.3", ss.InitializeParams().ClientInfo.Version)
		assert.Nil(t, ss.InitializeParams().Capabilities.Elicitation, "nothing is declared that nobody does")
	}
	assert.Equal(t, "t", c.Server().Info.Name)
	c.Close()
	for range s.Sessions() {
		t.Error("a session was left")
	}
	assert.True(t, c.Ended())
	_, err = c.Call(t.Context(), "tools/list", &mcp.ListToolsParams{})
	var failed *Failure
	require.ErrorAs(t, err, &failed)
	c.Close() // again is no error
}

// Calls that race with the end get an answer all the same.
func TestCallsWhileTheClientCloses(t *testing.T) {
	for range 20 {
		_, at := target(t)
		c, err := Open(t.Context(), at, Options{Handler: heard{make(chan string, 100)}})
		require.NoError(t, err)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				_, _ = c.Call(ctx, "tools/call", &mcp.CallToolParams{Name: "a"})
				_, _ = c.Call(t.Context(), "tools/call", &mcp.CallToolParams{Name: "a"})
			})
		}
		c.Close()
		group.Wait()
	}
}

func TestOpeningIsGivenUpWithItsContext(t *testing.T) {
	arrived := make(chan bool, 10)
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not see the client go
		arrived <- true
		<-r.Context().Done()
	}))
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	_, err := Open(ctx, Target{URL: silent.URL}, Options{Handler: heard{}})
	require.ErrorIs(t, err, context.Canceled)

	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = Open(ctx, Target{URL: silent.URL}, Options{Handler: heard{}})
	require.ErrorContains(t, err, "did not answer in time")
}

func TestFailuresSayWhatHappened(t *testing.T) {
	for where, want := range map[string]string{
		"http://no-such-host.invalid/": "cannot be reached: its host is not known",
		"https://" + plain(t):          "cannot be understood",
		untrusted(t):                   "its certificate is not trusted",
	} {
		_, err := Open(t.Context(), Target{URL: where}, Options{Handler: heard{}})
		require.ErrorContains(t, err, want, where)
	}
}

// plain is the address of a server without TLS, untrusted the URL of one whose
// certificate nobody signed.
func plain(t *testing.T) string {
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func untrusted(t *testing.T) string {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = nil
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}
