package telemetry

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kandev/assent/internal/testlog"
	"github.com/kandev/assent/pipeline"
)

// The exporters of the library share one transport for the whole process, which
// keeps a finished connection for a moment after its server is gone.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// setEnvironment leaves only these variables of OpenTelemetry.
func setEnvironment(t *testing.T, variables map[string]string) {
	t.Helper()
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "") // the specification: empty is as good as unset
		}
	}
	for name, value := range variables {
		t.Setenv(name, value)
	}
}

// start starts telemetry that ends with the test.
func start(t *testing.T, variables map[string]string) (*Telemetry, *testlog.Buffer) {
	t.Helper()
	setEnvironment(t, variables)
	out := &testlog.Buffer{}
	tel, err := New(t.Context(), Options{Logger: out.Logger(), Version: "1.2.3"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = tel.Shutdown(context.Background()) })
	return tel, out
}

// scrape asks the handler over a real connection, as Prometheus does.
func scrape(t *testing.T, tel *Telemetry) string {
	t.Helper()
	server := httptest.NewServer(tel.Handler())
	defer server.Close()
	answer, err := server.Client().Get(server.URL)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(text)
}

// step is a stage that says one thing.
type step struct {
	name     pipeline.Name
	decision pipeline.Decision
	err      error
}

func (s step) Name() pipeline.Name { return s.name }

func (s step) Evaluate(context.Context, pipeline.Evaluation) (pipeline.Decision, error) {
	return s.decision, s.err
}

// decided lets a real pipeline decide.
func decided(t *testing.T, agent pipeline.Agent, steps ...step) Decision {
	t.Helper()
	var order pipeline.Order
	var members []pipeline.Stage
	for _, s := range steps {
		order, members = append(order, s.name), append(members, s)
	}
	p, err := pipeline.New(order, members)
	require.NoError(t, err)
	return Decision{
		Agent: agent, Result: p.Decide(t.Context(), &pipeline.Request{Options: make([]pipeline.Option, 1)}),
		Start: time.Unix(1_800_000_000, 0), Took: 20 * time.Microsecond,
	}
}

// approved is a decision on the automatic path, with a secret in an error text.
func approved(t *testing.T) Decision {
	return decided(t, "claude-acp",
		step{name: "blanket", decision: pipeline.Decision{Verdict: pipeline.Continue, Reason: "no_blanket_approval"}},
		step{name: "option", decision: pipeline.Decision{Verdict: pipeline.Select, Reason: "injected_mcp"}})
}

func broken(t *testing.T) Decision {
	return decided(t, "hostile "+secret, step{name: "hostile " + secret, err: errors.New(secret)})
}

const secret = "hunter2-S3CRET"
