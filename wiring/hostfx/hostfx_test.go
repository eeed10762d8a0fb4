package hostfx

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"
	"go.uber.org/goleak"

	"github.com/kandev/assent/internal/host/serve"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func settings(t *testing.T) Settings {
	t.Helper()
	dir, err := os.MkdirTemp("", "assent") // a socket is in it: its path is short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return Settings{
		Config: serve.Config{Listen: "127.0.0.1:0", Data: dir, Agents: map[string]serve.Agent{"none": {Command: []string{"assent-no-such-agent"}}}},
		Logger: slog.New(slog.DiscardHandler), Version: "test",
	}
}

// The module really builds the daemon, and the end of the application drains it.
func TestModule(t *testing.T) {
	var s *serve.Server
	app := fxtest.New(t, Module, fx.Supply(settings(t)), fx.NopLogger, fx.Populate(&s))
	app.RequireStart()
	assert.Contains(t, s.URL(), "http://127.0.0.1:")
	app.RequireStop()
}

// buffer is written by one goroutine and read by another.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestRun(t *testing.T) {
	for _, show := range []bool{true, false} {
		s := settings(t)
		s.ShowToken = show
		assert.Equal(t, show, strings.Contains(runOnce(t, s), "#token="), "a log gets no token")
	}
}

// runOnce runs the daemon until it has greeted.
func runOnce(t *testing.T, s Settings) (said string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out buffer
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, s, &out, "") }()
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "Ctrl-C ends it.") }, time.Minute, 20*time.Millisecond)
	stop()
	require.NoError(t, <-ended)
	return out.String()
}

// A start that takes long ends with its caller: here a NATS server that says nothing.
func TestAStartThatIsGivenUp(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = silent.Close() }()
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		conn, err := silent.Accept()
		stop()
		if err == nil {
			defer func() { _ = conn.Close() }()
			_, _ = conn.Read(make([]byte, 1))
		}
	}()
	s := settings(t)
	s.Config.NATS.URL = "nats://" + silent.Addr().String()
	began := time.Now()
	assert.NoError(t, Run(ctx, s, new(buffer), ""))
	assert.Less(t, time.Since(began), 4*time.Second, "at once: a server may take 5 s to answer")
	assert.Error(t, ctx.Err(), "it had begun")
}

// A part that cannot be opened is told in its own words, and those that could are
// closed again.
func TestWhatCannotBeOpened(t *testing.T) {
	first := settings(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	for says, change := range map[string]func(*Settings){
		"cannot listen at":              func(s *Settings) { s.Config.Listen = taken.Addr().String() },
		"is not host and port":          func(s *Settings) { s.Config.Listen = "127.0.0.1:99999" },
		"no NATS server answers":        func(s *Settings) { s.Config.NATS.URL = "nats://127.0.0.1:1" },
		"the environment variable NONE": func(s *Settings) { s.Config.Webhook = serve.Webhook{URL: "https://hook.example", SecretEnv: "NONE"} },
		"tls: ":                         func(s *Settings) { s.Config.TLS = serve.TLS{Cert: "/none", Key: "/none"} },
	} {
		s := first
		change(&s)
		err := Run(t.Context(), s, new(buffer), "")
		assert.ErrorContains(t, err, says)
		assert.NotContains(t, err.Error(), "makeFuncStub")
	}
	assert.Contains(t, runOnce(t, first), "assent runs at", "the folder is free again")
}
