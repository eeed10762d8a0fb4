package serve

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/demoagent"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/state"
	"github.com/kandev/assent/internal/host/token"
	"github.com/kandev/assent/internal/testlog"
	"github.com/kandev/assent/stages"
)

// roleVariable makes the test program something else.
const roleVariable = "ASSENT_SERVE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "agent":
		os.Exit(demoagent.Main())
	case "keeper":
		os.Exit(keeper())
	case "early":
		os.Exit(early())
	case "mute":
		os.Exit(mute())
	case "server":
		os.Exit(victim())
	}
	goleak.VerifyTestMain(m)
}

// agentOf is this program in a role, as an agent of the configuration.
func agentOf(t testing.TB, role string) Agent {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return Agent{ID: "claude-acp", Command: []string{self}, Env: map[string]string{roleVariable: role}, Directory: os.TempDir()}
}

// patience is how long a test waits for what has to come, on a busy machine.
const patience = time.Minute

// rig is a daemon in the test, and what it is made of.
type rig struct {
	*Server
	t      testing.TB
	dir    string
	log    *testlog.Buffer
	tokens *token.Store
	stop   func()
}

// begin starts a daemon with the demo agent; change may be nil.
func begin(t testing.TB, change func(*Config)) *rig {
	t.Helper()
	// A socket's path is short.
	dir, err := os.MkdirTemp("", "assent")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return beginIn(t, dir, change)
}

// beginIn starts a daemon on a data folder that may have been used before.
func beginIn(t testing.TB, dir string, change func(*Config)) *rig {
	t.Helper()
	c := Config{
		Listen: "127.0.0.1:0", Data: dir, DefaultAgent: "demo",
		Agents: map[string]Agent{"demo": agentOf(t, "agent")}, Offers: Offers{NoSurfaceAfter: -1},
	}
	if change != nil {
		change(&c)
	}
	r := &rig{t: t, dir: dir, log: &testlog.Buffer{}}
	o, closeAll, err := compose(t.Context(), c, r.log)
	require.NoError(t, err)
	r.tokens = o.Tokens
	r.Server, err = New(t.Context(), o)
	if err != nil {
		closeAll()
		require.NoError(t, err)
	}
	ended := false
	r.stop = func() {
		if ended {
			return
		}
		ended = true
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		assert.NoError(t, r.Drain(ctx))
		closeAll()
		http.DefaultClient.CloseIdleConnections()
	}
	t.Cleanup(r.stop)
	return r
}

// compose makes the parts of a daemon.
func compose(ctx context.Context, c Config, log *testlog.Buffer) (o Options, closeAll func(), err error) {
	st, err := state.Open(ctx, state.Options{Dir: c.Data, Logger: log.Logger()})
	if err != nil {
		return o, nil, err
	}
	tokens, err := token.Open(ctx, st, log.Logger())
	if err != nil {
		return o, nil, err
	}
	file := AuditFile(c.Data)
	book, err := audit.Open(file, audit.Options{Logger: log.Logger()})
	if err != nil {
		return o, nil, err
	}
	set, err := dialects.Index(dialects.All())
	if err != nil {
		return o, nil, err
	}
	pipelines, err := stages.NewPipelineFactory(stages.HostOrder(), append(stages.Builtin(set), stages.WitnessFactory()))
	if err != nil {
		return o, nil, err
	}
	o = Options{
		Config: c, Pipelines: pipelines, Dialects: set, State: st, Tokens: tokens, Audit: book, AuditFile: file,
		Logger: log.Logger(), Version: "test",
	}
	return o, func() {
		tokens.Close()
		_ = book.Close(context.Background())
		_ = st.Close()
	}, nil
}

// all are the scopes of a token that may do everything.
var all = []string{"view", "operate", "answer"}

// token makes a token and returns its secret.
func (r *rig) token(name string, scopes []string, tasks ...string) string {
	r.t.Helper()
	secret, _, err := r.tokens.Create(context.Background(), name, scopes, tasks)
	require.NoError(r.t, err)
	return secret
}

// records are the lines of the audit file.
func (r *rig) records() (list []audit.Record) {
	r.t.Helper()
	require.NoError(r.t, r.audit.Flush(context.Background(), r.audit.Stats()))
	require.NoError(r.t, audit.Read(filepath.Join(r.dir, "audit.jsonl"), func(l audit.Line) error {
		list = append(list, l.Record)
		return l.Err
	}))
	return list
}
