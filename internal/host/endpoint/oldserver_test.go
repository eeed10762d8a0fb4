package endpoint

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/kandev/assent/internal/host/upstream"
)

// oldServer is a target written by hand, as there are many: one answer in JSON for
// each POST, 405 for everything else, and no session.
type oldServer struct {
	mu    sync.Mutex
	seen  []string // methods
	serve func(w http.ResponseWriter, r *http.Request, method string) bool
}

func (o *oldServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Name string }
	}
	if json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	o.mu.Lock()
	o.seen = append(o.seen, m.Method)
	o.mu.Unlock()
	if o.serve != nil && o.serve(w, r, m.Method) {
		return
	}
	body := map[string]string{
		"initialize": `"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"0"}}`,
		"tools/list": `"result":{"tools":[{"name":"old_tool","inputSchema":{"type":"object","properties":{"z":{},"a":{"maximum":9223372036854775807}}},"own":1}]}`,
		"tools/call": `"result":{"content":[{"type":"text","text":"ran ` + m.Params.Name + `"}]}`,
	}[m.Method]
	if body == "" {
		body = `"error":{"code":-32601,"message":"no such method"}`
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, body)
}

func (o *oldServer) methods() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.seen, " ")
}

// before opens an endpoint before a handler.
func before(t *testing.T, h http.Handler) (bench, *httptest.Server) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return front(t, upstream.Target{URL: server.URL}), server
}
