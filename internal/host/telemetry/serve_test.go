package telemetry

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/pipeline"
)

// fetch asks a served address for a path, in the name of a host.
func fetch(t *testing.T, address net.Addr, method, path, host string) (int, string) {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+address.String()+path, nil)
	require.NoError(t, err)
	r.Host = host
	answer, err := transport.RoundTrip(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text)
}

func TestServe(t *testing.T) {
	tel, _ := start(t, nil)
	tel.NetFired(t.Context(), audit.Tripwire)
	address, err := tel.Serve(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		method, path, host string
		want               int
	}{
		"by address":       {"GET", "/metrics", address.String(), 200},
		"by name":          {"GET", "/metrics", "localhost:1234", 200},
		"the default port": {"GET", "/metrics", "localhost", 200},
		"in IPv6":          {"GET", "/metrics", "[::1]:9464", 200},
		"a rebound name":   {"GET", "/metrics", "evil.example:9464", 403},
		"another address":  {"GET", "/metrics", "192.0.2.1", 403},
		"another path":     {"GET", "/", "localhost", 404},
		"another method":   {"POST", "/metrics", "localhost", 405},
	} {
		t.Run(name, func(t *testing.T) {
			status, text := fetch(t, address, c.method, c.path, c.host)
			assert.Equal(t, c.want, status)
			assert.Equal(t, c.want == 200, regexp.MustCompile(`assent_nets_fired_total\{net="tripwire"\} 1\n`).MatchString(text))
		})
	}
	require.NoError(t, tel.Shutdown(t.Context()))
	_, err = net.Dial("tcp", address.String())
	assert.Error(t, err, "nothing is served any more")
}

func TestServeWhere(t *testing.T) {
	tel, _ := start(t, nil)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for address, want := range map[string]string{
		"localhost:0":             "",
		"0.0.0.0:0":               ErrNotLoopback.Error(),
		":0":                      ErrNotLoopback.Error(),
		"192.0.2.1:9464":          ErrNotLoopback.Error(),
		"[::]:0":                  ErrNotLoopback.Error(),
		"localhost.example:0":     ErrNotLoopback.Error(),
		"9464":                    "use one like 127.0.0.1:9464",
		"127.0.0.1:words":         "metrics cannot be served",
		taken.Addr().String():     "use another port",
		"[::ffff:192.0.2.1]:9464": ErrNotLoopback.Error(),
	} {
		at, err := tel.Serve(t.Context(), address)
		if want == "" {
			require.NoError(t, err, address)
			status, _ := fetch(t, at, "GET", "/metrics", "localhost")
			assert.Equal(t, 200, status)
			continue
		}
		assert.ErrorContains(t, err, want, address)
	}
	_, err = (*Telemetry)(nil).Serve(t.Context(), "127.0.0.1:0")
	assert.ErrorIs(t, err, ErrSwitchedOff)
}

// The page about the metrics has every one of them, and none that is not there.
func TestMetricsPage(t *testing.T) {
	tel, _ := start(t, nil)
	ctx := t.Context()
	tel.Decision(ctx, approved(t))
	tel.OfferOpened(ctx, "claude-acp")
	tel.OfferClosed(ctx, "claude-acp", pipeline.Select, time.Second)
	tel.NetFired(ctx, audit.Tripwire)
	tel.Unasked(ctx, "claude-acp", 1)
	tel.AuditDropped(1)
	page, err := os.ReadFile(filepath.Join(root, "docs", "metrics.md"))
	require.NoError(t, err)
	names := func(pattern string, text []byte) (list []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
			list = append(list, string(m[1]))
		}
		slices.Sort(list)
		return list
	}
	assert.Equal(t, names(`(?m)^# TYPE (assent_\w+)`, []byte(scrape(t, tel))), names("(?m)^\\| `(assent_\\w+)`", page))
}
