package endpoint

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newAgent is what an agent of the newest version says with each request, beside
// the header with that version.
const newAgent = `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + newest + `",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"agent","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// A newer agent sends its version with its first request and never initialize. That
// is between it and the endpoint: the target is spoken to in its own version. The
// SDK's client would not show the difference, as it falls back to initialize.
func TestFrontServesAnAgentWithoutInitialize(t *testing.T) {
	first := []struct{ method, params, want string }{
		{"server/discover", "", `"be nice"`},
		{"tools/list", "", `"echo"`},
		{"tools/call", `"name":"fails",`, "did not work"},
	}
	for _, kind := range targetKinds {
		for i, begin := range first {
			t.Run(kind+" "+begin.method, func(t *testing.T) {
				b := front(t, serveTarget(t, kind).at)
				session := b.session(t)
				for n := range first { // it begins with each of them, and goes on
					r := first[(i+n)%len(first)]
					a := b.raw(t, session, http.MethodPost, b.url("localhost", "/mcp"),
						fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s%s}}`, n, r.method, r.params, newAgent),
						func(req *http.Request) {
							req.Header.Set("Mcp-Protocol-Version", newest)
							req.Header.Set("Mcp-Method", r.method)
							if r.method == "tools/call" {
								req.Header.Set("Mcp-Name", "fails")
							}
						})
					require.Equal(t, http.StatusOK, a.status, a.body)
					assert.Contains(t, a.body, r.want)
					assert.NotContains(t, a.body, `"error"`)
				}
				_, arrivals := b.seen.of(session.ID())
				assert.Equal(t, []Arrival{{Tool: "fails"}}, arrivals)
			})
		}
	}
}

// What is no call goes to the target in the target's own version, too: that the
// session has begun, and what the agent tells.
func TestTheTargetIsToldItsOwnVersion(t *testing.T) {
	tg, told := newTarget(), make(chan string, 100)
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tg.Server }, nil)
	b, _ := before(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "notifications/") {
			told <- r.Header.Get("Mcp-Protocol-Version")
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, r)
	}))
	session, id := b.session(t), ""
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + legacy + `","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"a","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
	} {
		a := b.raw(t, session, http.MethodPost, b.url("localhost", "/mcp"), message, func(r *http.Request) {
			r.Header.Set("Mcp-Protocol-Version", legacy)
			if id != "" {
				r.Header.Set(sessionHeader, id)
			}
		})
		require.Less(t, a.status, http.StatusBadRequest, a.body)
		id = cmp.Or(id, a.header.Get(sessionHeader))
	}
	for range 2 { // initialized by us, and the agent's list_changed
		assert.Equal(t, "2025-11-25", <-told)
	}
}
