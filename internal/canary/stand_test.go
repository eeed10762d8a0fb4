package canary

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/host/telemetry"
	"github.com/kandev/assent/internal/record"
	"github.com/kandev/assent/internal/testlog"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/stages"
)

// evidence is what is left of a run.
type evidence struct {
	sinks map[string]string // where nothing may be
	// Other texts, which hold secrets by their nature.
	wire, recording, failures, details, answers, arrived, otlp string
	endpointSecret, ownSecret                                  string
}

// paper is a text that many write to.
type paper struct{ testlog.Buffer }

func (p *paper) add(texts ...string) { _, _ = p.Write([]byte(strings.Join(texts, " ") + "\n")) }

// stand is everything around the agent.
type stand struct {
	t         *testing.T
	dir       string
	log       *slog.Logger
	store     *pending.Store
	audit     *audit.Log
	telemetry *telemetry.Telemetry
	manager   *process.Manager

	logs, errors, snapshots, wire, answers, details, failures, arrived, otlp paper

	mu       sync.Mutex
	endpoint string // its secret
}

// play runs the agent through everything once.
func play(t *testing.T) evidence {
	t.Helper()
	s := &stand{t: t, dir: t.TempDir()}
	s.open()
	s.run()
	own := s.others()
	scraped := s.close()
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(s.dir, name))
		require.NoError(t, err)
		return string(text)
	}
	return evidence{
		sinks: map[string]string{
			"logs": s.logs.String(), "errors": s.errors.String(), "snapshots": s.snapshots.String(),
			"audit": read("audit.jsonl"), "metrics": scraped, "traces": read("traces"),
		},
		wire: s.wire.String(), recording: read("recording.jsonl"), failures: s.failures.String(), details: s.details.String(),
		answers: s.answers.String(), arrived: s.arrived.String(), otlp: s.otlp.String(),
		endpointSecret: s.endpoint, ownSecret: own,
	}
}

// open makes the host.
func (s *stand) open() {
	level := &slog.HandlerOptions{Level: slog.LevelDebug}
	s.log = slog.New(slog.NewMultiHandler(slog.NewJSONHandler(&s.logs, level), slog.NewTextHandler(&s.logs, level)))
	s.receiver()
	var err error
	s.telemetry, err = telemetry.New(s.t.Context(), telemetry.Options{Logger: s.log, Version: "canary"})
	require.NoError(s.t, err)
	s.audit, err = audit.Open(filepath.Join(s.dir, "audit.jsonl"), audit.Options{Logger: s.log})
	require.NoError(s.t, err)
	s.store = pending.New(pending.Config{})
	s.store.Attach(pending.Scope{})
	set, err := dialects.Index(dialects.All())
	require.NoError(s.t, err)
	pipelines, err := stages.NewPipelineFactory(leakyOrder(), append(stages.Builtin(set), stages.WitnessFactory(), stages.Shared(leakyName, leaky{s})))
	require.NoError(s.t, err)
	s.manager, err = process.NewManager(process.Options{
		Pipelines: pipelines, Dialects: set, Store: s.store, Watcher: s, Logger: s.log, Audit: s.audit, Telemetry: s.telemetry, Version: "canary",
	})
	require.NoError(s.t, err)
}

// receiver takes what telemetry sends.
func (s *stand) receiver() {
	traces, err := os.Create(filepath.Join(s.dir, "traces"))
	require.NoError(s.t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.otlp.add(r.Header.Get("X-Key"), r.URL.Path)
		if strings.HasSuffix(r.URL.Path, "metrics") { // refused, in many words
			http.Error(w, "the key "+r.Header.Get("X-Key")+" is wrong", http.StatusBadRequest)
			return
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = traces.Write(body)
	}))
	s.t.Cleanup(func() { server.Close(); _ = traces.Close() })
	s.t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL+"/"+inOTLPURL.token())
	s.t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key="+inOTLPHeader.token())
}

// run lets the agent do everything, and end badly.
func (s *stand) run() {
	events, stop := s.store.Watch(1000)
	defer stop()
	launch := process.Launch{
		Command: command(), Config: settings(), Recorder: s.recorder,
		Endpoint: &endpoint.Options{Logger: s.log, Observer: s, Tools: append(endpoint.TaskTools(endpoint.NewTaskList()), panics())},
	}
	s.text("command", launch.Command)
	s.value("config", launch.Config)
	instance, err := s.manager.Start(s.t.Context(), launch)
	require.NoError(s.t, err)
	s.value("settings", instance.Config())
	session, err := instance.NewSession(s.t.Context(), s.dir)
	require.NoError(s.t, err)
	_, err = instance.NewSession(s.t.Context(), s.dir)
	s.failed(err)
	for _, word := range []string{"commands", "names", "oddities", "endpoint"} {
		_, err := session.Prompt(s.t.Context(), word)
		require.NoError(s.t, err)
	}
	_, err = session.Prompt(s.t.Context(), "end")
	s.failed(err)
	<-instance.Done()
	s.failed(instance.Err())
	s.blanket(launch)
	s.drain(events)
}

// blanket runs another agent whose person approves everything.
func (s *stand) blanket(l process.Launch) {
	l.Config.AutoApprovePermissions, l.Recorder = true, nil
	instance, err := s.manager.Start(s.t.Context(), l)
	require.NoError(s.t, err)
	session, err := instance.NewSession(s.t.Context(), s.dir)
	require.NoError(s.t, err)
	_, err = session.Prompt(s.t.Context(), "blanket")
	require.NoError(s.t, err)
	instance.Stop(s.t.Context())
}

// drain writes what a reader of the store's changes sees.
func (s *stand) drain(events <-chan pending.Event) {
	for {
		select {
		case e := <-events:
			s.json(&s.snapshots, e.Snapshot)
			s.text("event", e)
			s.text("outcome", e.Outcome)
			s.text("snapshot", e.Snapshot)
			s.text("options", e.Snapshot.Options)
		default:
			return
		}
	}
}

// close ends the host and gives what a scrape says.
func (s *stand) close() string {
	w := httptest.NewRecorder()
	s.telemetry.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	s.manager.Stop(context.Background())
	s.store.Close()
	require.NoError(s.t, s.audit.Close(context.Background()))
	require.NoError(s.t, s.telemetry.Shutdown(context.Background()))
	return w.Body.String()
}

// value puts a value that knows how to be logged into the log, as a host may.
func (s *stand) value(what string, v any) { s.log.Debug("a value", what, v) }

// text does the same with a value that knows how to be printed, too.
func (s *stand) text(what string, v any) {
	s.value(what, v)
	s.logs.add(written(v))
}

// failed keeps an error: its text is a sink, what it tells a person is not.
func (s *stand) failed(err error) {
	require.Error(s.t, err)
	s.errors.add(fmt.Sprintf("%v %+v", err, err))
	s.log.Debug("an error", "error", err)
	if e, ok := errors.AsType[*process.RPCError](err); ok {
		s.failures.add(e.Detail)
	}
	if e, ok := errors.AsType[*process.ExitError](err); ok {
		s.failures.add(e.Stderr)
	}
	if e, ok := errors.AsType[*process.HandshakeError](err); ok {
		s.failures.add(e.Stderr)
	}
}

func (s *stand) json(p *paper, v any) {
	text, err := json.Marshal(v)
	require.NoError(s.t, err)
	p.add(string(text))
}

// panics is a tool that panics with what it is given.
func panics() endpoint.Tool {
	type input struct {
		With string `json:"with"`
	}
	return endpoint.NewTool(&mcp.Tool{Name: "panics_kandev"}, func(_ context.Context, _ *mcp.CallToolRequest, in input) (*mcp.CallToolResult, any, error) {
		panic("out of luck with " + in.With)
	})
}

// recorder writes a recording, and keeps the lines as they are.
func (s *stand) recorder(ic config.InstanceConfig) (process.Recorder, error) {
	s.value("settings", ic)
	w, err := record.Create(filepath.Join(s.dir, "recording.jsonl"), record.Header{Agent: ic.Agent, Port: ic.Port})
	return recorder{w, s}, err
}

type recorder struct {
	*record.Writer
	stand *stand
}

func (r recorder) Agent(line []byte) error {
	r.stand.wire.add(string(line))
	return r.Writer.Agent(line)
}

func (r recorder) Client(line []byte) error {
	r.stand.wire.add(string(line))
	if !bytes.Contains(line, []byte(`"method":`)) {
		r.stand.answers.add(string(line))
	}
	return r.Writer.Client(line)
}

func (r recorder) Hide(secret string) {
	r.stand.mu.Lock()
	if r.stand.endpoint == "" { // of the first session, which goes on
		r.stand.endpoint = secret
	}
	r.stand.mu.Unlock()
	r.Writer.Hide(secret)
}

var _ pipeline.Stage = leaky{}
