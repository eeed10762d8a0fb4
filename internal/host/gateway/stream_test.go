package gateway

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// deaf is a server of MCP whose streams do not end by themselves: /mcp is busy until
// the test is over, but for texts to the wall, and /mcp/sse sends for as long as it can.
type deaf struct {
	texts chan string // for the wall
	over  chan struct{}
	begun chan struct{} // a stream is there
	ended chan error    // why one sends no more
}

func (d deaf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, "begun\n")
	flush := http.NewResponseController(w).Flush
	_ = flush()
	d.begun <- struct{}{}
	for strings.HasSuffix(r.URL.Path, "/sse") {
		if _, err := w.Write(make([]byte, 64<<10)); err != nil {
			d.ended <- err
			return
		}
	}
	texts := d.texts
	if p, _ := PersonOf(r.Context()); p.Name != "wall" {
		texts = nil
	}
	for {
		select {
		case text := <-texts:
			_, _ = io.WriteString(w, text)
			_ = flush()
		case <-d.over:
			return
		}
	}
}

// newDeaf starts a gateway before it, over HTTP/1.1 or HTTP/2, with so many connections
// at most; 0 is the default.
func newDeaf(t *testing.T, two bool, most int) (*stand, deaf, *http.Client, string) {
	t.Helper()
	d := deaf{make(chan string), make(chan struct{}), make(chan struct{}, 2), make(chan error, 2)}
	transport, scheme := &http.Transport{}, "http://"
	s := begin(t, func(o *Options) {
		o.MCP, o.Limits.MaxConnections = d, most
		if two {
			certified := httptest.NewTLSServer(nil)
			certified.Close()
			o.TLS, scheme = &tls.Config{Certificates: certified.TLS.Certificates}, "https://"
			transport.TLSClientConfig, transport.ForceAttemptHTTP2 = &tls.Config{InsecureSkipVerify: true}, true
		}
	})
	t.Cleanup(func() { close(d.over); transport.CloseIdleConnections() })
	return s, d, &http.Client{Transport: transport}, scheme + s.host
}

// open opens a stream and reads its first line.
func open(t *testing.T, client *http.Client, url, secret string) (*http.Response, *bufio.Reader) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+secret)
	answer, err := client.Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { _ = answer.Body.Close() })
	body := bufio.NewReader(answer.Body)
	line, err := body.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "begun\n", line)
	return answer, body
}

// The streams of a token that is deleted are closed at once: also while what serves
// them is busy with a call, and while their client does not read. Others go on, on the
// same connection too where that can be.
func TestDeletedTokenOfAStream(t *testing.T) {
	for name, two := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		t.Run(name, func(t *testing.T) {
			s, d, client, url := newDeaf(t, two, 0)
			_, busy := open(t, client, url+"/mcp", "s3cret")
			answer, other := open(t, client, url+"/mcp", "wall")
			assert.Equal(t, name, answer.Proto)
			_, _ = open(t, client, url+"/mcp/sse", "s3cret") // nobody reads on
			for range 3 {
				<-d.begun
			}
			s.people.remove("s3cret")
			s.DropToken("desk")
			_, err := busy.ReadByte()
			require.Error(t, err)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
			select {
			case err := <-d.ended:
				assert.Error(t, err)
			case <-time.After(10 * time.Second):
				assert.Fail(t, "the stream that nobody reads goes on")
			}
			d.texts <- "news\n"
			line, err := other.ReadString('\n')
			require.NoError(t, err)
			assert.Equal(t, "news\n", line)
		})
	}
}
