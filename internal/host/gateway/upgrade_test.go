package gateway

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Over HTTP/2 there is no upgrade to WebSocket: it is refused in words, and the connection
// goes on; over HTTP/1.1 there is.
func TestUpgradeOverHTTP2(t *testing.T) {
	s, _, client, url := newDeaf(t, true, 0)
	for _, path := range []string{"/ws", "/healthz"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+path, nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer s3cret")
		answer, err := client.Do(r)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		assert.Equal(t, "HTTP/2.0", answer.Proto)
		if path == "/ws" {
			assert.Equal(t, http.StatusUpgradeRequired, answer.StatusCode)
			assert.Contains(t, string(body), "over HTTP/1.1")
			assert.Empty(t, answer.Header.Values("Upgrade"))
			assert.Empty(t, answer.Header.Values("Connection"))
			continue
		}
		assert.Equal(t, http.StatusOK, answer.StatusCode)
	}
	assert.Zero(t, s.count())
	one := begin(t, nil)
	one.dial(t, "s3cret").alive(t)
}
