package canary

import (
	"context"
	"errors"
	"fmt"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/host/telemetry"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
	"github.com/kandev/assent/stages"
)

// Updated implements [process.Watcher].
func (s *stand) Updated(_ context.Context, u process.Update) {
	s.text("update", u)
	s.text("view", u.View())
}

// Decided implements [process.Watcher].
func (s *stand) Decided(_ context.Context, d process.Decided) {
	s.text("decided", d)
	s.value("result", d.Result)
	s.text("action", d.Action())
	s.logs.add(d.Result.Explain())
}

// Asked implements [process.Watcher]: a person looks at everything, makes two
// mistakes, and answers.
func (s *stand) Asked(_ context.Context, q process.Question) {
	s.text("question", q)
	s.text("offer", pending.Offer{Instance: q.Instance, ID: acp.NewID(`"` + inCallID.token() + `"`), Result: q.Result})
	by := pending.Responder{Name: "a person", Surface: "canary"}
	snapshot, err := s.store.Get(q.Key)
	assert.NoError(s.t, err)
	s.json(&s.snapshots, snapshot)
	detail, err := s.store.Detail(q.Key)
	assert.NoError(s.t, err)
	s.text("detail", detail)
	s.json(&s.details, detail)

	wrong := pending.Select(inWrongAnswer.token())
	s.text("answer", wrong)
	s.failed(s.store.Resolve(q.Key, wrong, by))
	s.failed(s.store.Resolve(pending.Key{Instance: q.Instance, Session: q.Session, Request: pending.RequestID(inWrongRequest.token())}, pending.Allow(), by))
	answers := []pending.Answer{pending.Allow(), pending.Select("odd"), pending.Deny(), pending.Select(inOptionID.token()), pending.Cancel()}
	answer := answers[q.Number%uint64(len(answers))]
	s.text("answer", answer)
	assert.NoError(s.t, s.store.Resolve(q.Key, answer, by))
	s.failed(s.store.Resolve(q.Key, answer, by))
}

// Answered implements [process.Watcher].
func (s *stand) Answered(_ context.Context, a process.Answered) {
	s.text("answered", a)
	s.text("outcome", a.Outcome)
}

// Fired and Unasked implement [process.NetWatcher].
func (s *stand) Fired(_ context.Context, f process.Fired)     { s.value("net", f) }
func (s *stand) Unasked(_ context.Context, u process.Unasked) { s.value("unasked", u) }

// Listed and Arrived implement [endpoint.Observer].
func (s *stand) Listed(endpoint.SessionID, []string) {}
func (s *stand) Arrived(_ endpoint.SessionID, a endpoint.Arrival) {
	s.arrived.add(a.Tool, a.ToolUseID)
}

// leaky is the stage of somebody careless: it logs what it sees, and its error
// quotes the request.
type leaky struct{ stand *stand }

const leakyName pipeline.Name = "leaky"

// leakyOrder has it before anything is approved.
func leakyOrder() pipeline.Order {
	return pipeline.Order{
		stages.BlanketName, stages.IdentityName, leakyName, stages.DialectName, stages.ProvenanceName, stages.WitnessName, stages.OptionName, stages.PendingName,
	}
}

func (leaky) Name() pipeline.Name { return leakyName }

func (l leaky) Evaluate(_ context.Context, ev pipeline.Evaluation) (pipeline.Decision, error) {
	r := ev.Request
	l.stand.value("title", r.Call.Title)
	l.stand.value("meta", r.Call.Meta)
	for _, list := range r.Session.Lists {
		l.stand.value("list", list)
		for _, server := range list.Servers {
			l.stand.value("server", server)
			for _, h := range server.Headers {
				l.stand.value("header", h)
			}
		}
	}
	if title, _ := r.Call.Title.Value(); title == "rm "+inStageError.token() {
		return pipeline.Decision{}, fmt.Errorf("cannot judge %q", title)
	}
	return pipeline.Decision{Verdict: pipeline.Continue}, nil
}

// others makes the errors and values that a good run does not meet. It gives the
// secret of a session of its own.
func (s *stand) others() string {
	missing := process.Launch{Command: process.Command{Path: "no-such-" + inAgentArgs.word(), Args: []string{inAgentArgs.token()}}, Config: settings()}
	_, err := s.manager.Start(s.t.Context(), missing)
	assert.Error(s.t, err) // it names the program, which is the user's own word
	s.log.Debug("an error", "error", errors.Unwrap(err))

	for _, c := range []config.Servers{
		{{Name: "x", Type: config.TypeHTTP, URL: "ftp://" + inServerURL.token()}},
		{{Name: "x", Type: config.TypeHTTP, URL: "http://x/", Headers: []config.Header{{Name: "bad name", Value: inServerHeader.token()}}}},
		{{Name: "x", Type: config.TypeHTTP, URL: "http://x/", Headers: []config.Header{{Name: "X", Value: inServerHeader.token() + "\n"}}}},
		{{Name: "x", Command: "x", Env: []config.EnvVar{{Name: "A=B", Value: inServerEnv.token()}}}},
	} {
		if _, err := (config.Config{Agent: "claude-acp", MCPServers: c}).NewInstanceConfig(config.InstanceOverrides{}); err != nil {
			s.failed(err)
		}
	}
	ic, err := settings().NewInstanceConfig(config.InstanceOverrides{Port: 4000})
	assert.NoError(s.t, err)
	s.value("overrides", config.InstanceOverrides{MCPServers: settings().MCPServers})
	for _, server := range ic.MCPServers {
		s.text("server", server)
		for _, h := range server.Headers {
			s.text("header", h)
		}
		for _, v := range server.Env {
			s.text("variable", v)
		}
	}
	s.value("servers", ic.MCPServers)
	own := s.ownSession(ic)

	s.t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", inOTLPHeader.token()+" is no header")
	_, err = telemetry.New(s.t.Context(), telemetry.Options{Logger: s.log})
	s.failed(err)
	return own
}

// ownSession is a session of another endpoint, whose secret goes into the values
// that a session request and a Codex launch are made of.
func (s *stand) ownSession(ic config.InstanceConfig) string {
	e, err := endpoint.Open(s.t.Context(), endpoint.Options{Logger: s.log})
	assert.NoError(s.t, err)
	defer func() { assert.NoError(s.t, e.Close()) }()
	session, err := e.NewSession()
	assert.NoError(s.t, err)
	s.text("session", session)
	servers, err := ic.SessionServers(config.MCPCapabilities{HTTP: true}, session.Authorization())
	assert.NoError(s.t, err)
	s.text("servers", servers)
	launch, err := ic.CodexArgs(session.Authorization())
	assert.NoError(s.t, err)
	s.value("codex", launch)
	return session.Authorization()[len("Bearer "):]
}
