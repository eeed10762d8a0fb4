package serve

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// forward starts a forwarder to a server that adds the Authorization header, if there is
// one, and leaves everything else as it came. It gives its port and how many requests
// came by.
func (s stolen) forward(t testing.TB, target *url.URL) (port string, forwarded *atomic.Int64) {
	t.Helper()
	forwarded = new(atomic.Int64)
	own := &http.Transport{DisableCompression: true}
	forwarder := httptest.NewServer(&httputil.ReverseProxy{
		Transport: own, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			forwarded.Add(1)
			r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host // Host stays
			if s.authorization != "" {
				r.Out.Header.Set("Authorization", s.authorization)
			}
		},
	})
	t.Cleanup(func() { forwarder.Close(); own.CloseIdleConnections() })
	at, err := url.Parse(forwarder.URL)
	require.NoError(t, err)
	return at.Port(), forwarded
}

// conformance runs one scenario of the official conformance suite against a server,
// through the forwarder. It gives each check with its status, what the suite printed, and
// its error if it found fault.
func (s stolen) conformance(t testing.TB, scenario string) (found []string, output string, err error) {
	t.Helper()
	target, err := url.Parse(s.url)
	require.NoError(t, err)
	port, forwarded := s.forward(t, target)
	redirect, err := filepath.Abs(filepath.Join(npmSource, "redirect.cjs"))
	require.NoError(t, err)
	results := t.TempDir()
	cmd := node(t, "--require", redirect, "node_modules/@modelcontextprotocol/conformance/dist/index.js",
		"server", "--url", s.url, "--scenario", scenario, "--output-dir", results)
	cmd.Env = append(os.Environ(), "FORWARD_FROM="+target.Port(), "FORWARD_TO="+port)
	out, err := cmd.CombinedOutput()
	assert.Positive(t, forwarded.Load(), "nothing went through the forwarder")
	return checks(t, results), string(out), err
}

// checks reads what the suite found.
func checks(t testing.TB, folder string) (found []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*", "checks.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	var list []struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	}
	require.NoError(t, json.Unmarshal(text, &list))
	for _, c := range list {
		found = append(found, c.ID+" "+c.Status)
	}
	return found
}

// modes are the two MCP servers of a daemon, each with the way in.
func modes(t *testing.T) map[string]stolen {
	t.Helper()
	npmPackages(t)
	r := begin(t, withKeeper(t))
	secret := r.token("desk", all)
	p := r.dial(secret)
	p.watch()
	_, instance := p.keep("task", "")
	return map[string]stolen{"task mode": instance, "external mode": r.external(secret)}
}

// The official MCP conformance suite finds no fault with either mode. Its scenarios of
// tools, resources and prompts want a server that was written for it.
func TestConformance(t *testing.T) {
	ways := modes(t)
	for scenario, want := range map[string][]string{
		"server-initialize":        {"server-initialize SUCCESS"},
		"ping":                     {"ping SUCCESS"},
		"tools-list":               {"tools-list SUCCESS"},
		"dns-rebinding-protection": {"localhost-host-rebinding-rejected SUCCESS", "localhost-host-valid-accepted SUCCESS"},
	} {
		for mode, way := range ways {
			t.Run(scenario+" in "+mode, func(t *testing.T) {
				found, output, err := way.conformance(t, scenario)
				require.NoError(t, err, output)
				assert.Equal(t, want, found)
			})
		}
	}
}

// Without the token the suite finds fault: it is the daemon that it looks at.
func TestConformanceNeedsTheToken(t *testing.T) {
	for mode, way := range modes(t) {
		found, output, err := stolen{url: way.url}.conformance(t, "ping")
		assert.Equal(t, []string{"ping FAILURE"}, found, mode)
		assert.Contains(t, output, "missing_or_unknown", mode)
		require.Error(t, err, mode)
	}
}
