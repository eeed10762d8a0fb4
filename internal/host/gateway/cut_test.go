package gateway

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A token that is deleted while the body of a request is still under way reaches the
// MCP server no more; one that stays does.
func TestDeletedTokenBeforeTheBody(t *testing.T) {
	for name, deleted := range map[string]bool{"deleted": true, "kept": false} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, func(o *Options) {
				o.MCP = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { say(w, 200, "served") })
			})
			conn, err := net.Dial("tcp", s.host)
			require.NoError(t, err)
			defer func() { _ = conn.Close() }()
			_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer s3cret\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n", s.host)
			require.NoError(t, err)
			first := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))
			_, err = io.ReadFull(conn, first)
			require.NoError(t, err, "the body is read, so the token was good")
			if deleted {
				s.people.remove("s3cret")
				s.DropToken("desk")
			}
			_, err = io.WriteString(conn, "{}")
			require.NoError(t, err)
			answer, err := io.ReadAll(conn)
			require.NoError(t, err)
			if deleted {
				assert.Contains(t, string(answer), "HTTP/1.1 401 ")
				return
			}
			assert.Contains(t, string(answer), "served")
		})
	}
}

// A request that runs when its token is deleted is cut off; that of another token is not.
func TestDeletedTokenOfARequestThatRuns(t *testing.T) {
	begun, goOn := make(chan string), make(chan struct{})
	s := begin(t, func(o *Options) {
		o.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p, _ := PersonOf(r.Context())
			begun <- p.Name
			select {
			case <-r.Context().Done():
				say(w, 200, "cut")
			case <-goOn:
				say(w, 200, "whole")
			}
		})
	})
	answers := map[string]chan string{"s3cret": make(chan string, 1), "wall": make(chan string, 1)}
	for secret, answer := range answers {
		go func() {
			_, body := s.get(t, http.MethodPost, "/mcp", with("Authorization", "Bearer "+secret))
			answer <- body
		}()
		<-begun
	}
	s.people.remove("s3cret")
	s.DropToken("desk")
	assert.Equal(t, "cut\n", <-answers["s3cret"])
	close(goOn)
	assert.Equal(t, "whole\n", <-answers["wall"])
	require.Empty(t, s.cuts)
}
