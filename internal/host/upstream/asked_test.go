package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// holding serves requests of the target when it is let.
type holding struct{ begun, free chan bool }

func (h holding) Notification(context.Context, string, json.RawMessage) {}

func (h holding) Request(context.Context, string, json.RawMessage) (any, error) {
	h.begun <- true
	<-h.free
	return map[string]any{"roots": []any{}}, nil
}

// asking is a target by hand that answers each tools/call when it has asked the given
// requests and the test says so. It hands on what it is answered.
func asking(t *testing.T, requests []string) (at Target, answers chan string, over chan bool) {
	t.Helper()
	answers, over = make(chan string, 10), make(chan bool, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(body, &m)
		switch m.Method {
		case "initialize":
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`, m.ID)
		case "tools/call":
			w.Header().Set("Content-Type", eventStream)
			for _, id := range requests {
				_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"roots/list\"}\n\n", id)
			}
			w.(http.Flusher).Flush()
			<-over
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", m.ID)
		case "":
			answers <- string(body)
			w.WriteHeader(http.StatusAccepted)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(s.Close)
	return Target{URL: s.URL}, answers, over
}

// Two open requests with one id: the second is refused, and the first is served. With
// an id each, both are, and an id can be used again when its request was answered.
func TestTheTargetAsksTwiceAtOnce(t *testing.T) {
	const refused = `{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,"message":"a request with this id is being served"}}`
	const served = `{"jsonrpc":"2.0","id":%s,"result":{"roots":[]}}`
	for name, row := range map[string]struct {
		ids     []string
		refused []string // answered while the others are held
		served  []string
	}{
		"one id":        {[]string{"1", "1", "1"}, []string{"1", "1"}, []string{"1"}},
		"one text":      {[]string{`"a"`, `"a"`}, []string{`"a"`}, []string{`"a"`}},
		"an id each":    {[]string{"1", "2"}, nil, []string{"1", "2"}},
		"text, number":  {[]string{"1", `"1"`}, nil, []string{"1", `"1"`}},
		"one id of two": {[]string{"1", "2", "1"}, []string{"1"}, []string{"1", "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			at, answers, over := asking(t, row.ids)
			h := holding{make(chan bool, 10), make(chan bool)}
			c, err := Open(t.Context(), at, Options{Handler: h})
			require.NoError(t, err)
			defer c.Close()
			for range 2 { // the second call asks with the same ids again
				done := make(chan error)
				go func() { _, err := c.Call(t.Context(), "tools/call", &mcp.CallToolParams{Name: "a"}); done <- err }()
				for range row.served {
					<-h.begun
				}
				var got, want []string
				for _, id := range row.refused {
					got, want = append(got, <-answers), append(want, fmt.Sprintf(refused, id))
				}
				assert.ElementsMatch(t, want, got)
				got, want = nil, nil
				for _, id := range row.served {
					h.free <- true
					got, want = append(got, <-answers), append(want, fmt.Sprintf(served, id))
				}
				assert.ElementsMatch(t, want, got)
				over <- true
				require.NoError(t, <-done)
				assert.Empty(t, h.begun, "nothing else was served")
			}
		})
	}
}
