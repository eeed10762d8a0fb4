package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

func TestAPromptWaitsForTheEndOfTheTurn(t *testing.T) {
	s := newStage(t, "asks by words")
	session := s.session(t)
	reason, err := session.Prompt(t.Context(), "end")
	require.NoError(t, err)
	assert.Equal(t, StopReason("end_turn"), reason)
}

func TestAPromptThatIsGivenUpIsCancelled(t *testing.T) {
	s := newStage(t, "asks by words")
	session := s.session(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("lunch")
	done := make(chan error, 1)
	go func() { _, err := session.Prompt(ctx, "offer 1 s1 c"); done <- err }()
	q := s.next(t)
	cancel(why)
	assert.ErrorIs(t, receive(t, done), why)
	q.over(t, pending.CodeStale, pending.ReasonSessionCancelled)
	s.heard(t, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
	s.heard(t, fmt.Sprintf(isCancelled, "1"))
}

func TestAnOddAnswerToAPrompt(t *testing.T) {
	s := newStage(t, "asks by words")
	session := s.session(t)
	for _, result := range []string{`{"stopReason":7}`, `[]`} {
		// The ids of our requests are numbers: the next one answers itself.
		id := session.instance.conn.calls.last + 1
		_, err := session.Prompt(t.Context(), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id, result))
		rpc, ok := errors.AsType[*RPCError](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, malformedAnswer, rpc.Code)
	}
	s.turn(t, session, `{"jsonrpc":"2.0","id":12345,"result":{}}`+"\nend") // no request of ours
}

// faulty is a stage that fails.
type faulty struct{ err error }

func (faulty) Name() pipeline.Name { return "faulty" }

func (f faulty) Evaluate(context.Context, pipeline.Evaluation) (pipeline.Decision, error) {
	return pipeline.Decision{Verdict: pipeline.Select}, f.err
}

func TestL61_AStageThatFailsAsksAPersonAndIsLogged(t *testing.T) {
	for _, fault := range []error{errors.New("s3cret"), nil} {
		var log bytes.Buffer
		s := newStage(t, "asks by words", func(o *Options, _ *Launch) {
			o.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
			o.Pipelines = func(pipeline.Instance) (*pipeline.Pipeline, error) {
				return pipeline.New(pipeline.Order{"faulty"}, []pipeline.Stage{faulty{fault}})
			}
		})
		session := s.session(t)
		s.turn(t, session, "offer 1 s1 c\nend")
		if fault == nil {
			s.heard(t, fmt.Sprintf(selectedA, "1"))
			assert.Empty(t, log.String())
			continue
		}
		s.next(t).cancels(t)
		s.heard(t, fmt.Sprintf(isCancelled, "1"))
		session.instance.Stop(t.Context())
		assert.Contains(t, log.String(), "stage_error")
		assert.NotContains(t, log.String(), "s3cret")
	}
}

func TestAnInstanceWithoutAPipelineIsNotStarted(t *testing.T) {
	fault := errors.New("no stages")
	s := newStage(t, "asks by words", injected(nil), func(o *Options, _ *Launch) {
		o.Pipelines = func(pipeline.Instance) (*pipeline.Pipeline, error) { return nil, fault }
	})
	_, err := s.manager.Start(t.Context(), s.launch)
	assert.ErrorIs(t, err, fault)

	s = newStage(t, "asks by words", injected(nil), func(_ *Options, l *Launch) { l.Config.Agent = "no agent id" })
	_, err = s.manager.Start(t.Context(), s.launch)
	assert.ErrorContains(t, err, "agent id")

	s = newStage(t, "asks by words", func(_ *Options, l *Launch) { l.Endpoint = &endpoint.Options{Port: -1} })
	_, err = s.manager.Start(t.Context(), s.launch)
	assert.ErrorContains(t, err, "port")
}

func TestTwinOptionsComeWithTheDialectsHint(t *testing.T) {
	for agent, want := range map[string]pipeline.OptionHint{"qwen-acp": {Allow: "proceed_once"}, "claude-acp": {}} {
		s := newStage(t, "asks by words", func(_ *Options, l *Launch) { l.Config.Agent = agent })
		session := s.session(t)
		s.turn(t, session, "offer 1 s1 c\nend")
		assert.Equal(t, want, s.next(t).Hint)
	}
	s := newStage(t, "asks by words", func(_ *Options, l *Launch) {
		l.Overrides = config.InstanceOverrides{Agent: "qwen-acp", AgentGuessed: true}
	})
	s.turn(t, s.session(t), "offer 1 s1 c\nend")
	assert.Equal(t, pipeline.OptionHint{}, s.next(t).Hint, "a guess tells nothing apart")
}

func TestL31_TwelveMebibytesOfArguments(t *testing.T) {
	s := newStage(t, "asks by words", injected(nil))
	session := s.session(t)
	s.knock(t, session.instance, s.tape.hidden[0])
	long := `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c","name":"mcp__kandev__list_tasks_kandev","rawInput":{"x":"` +
		strings.Repeat("y", 12<<20) + `"}},"options":` + threeOptions + `}}`
	s.turn(t, session, long+"\nend")
	s.heard(t, fmt.Sprintf(selectedA, "1"))
	s.none(t)
}

func TestDecidedShowsTheAction(t *testing.T) {
	var action Action
	s := newStage(t, "asks by words", func(o *Options, l *Launch) {
		o.Watcher = watchDecided(func(d Decided) { action = d.Action() })
		l.Config.AutoApprovePermissions = true
	})
	s.turn(t, s.session(t), "offer 1 s1 c\nend")
	assert.Equal(t, "ls", action.Command)
}

type watchDecided func(Decided)

func (watchDecided) Updated(context.Context, Update)        {}
func (f watchDecided) Decided(_ context.Context, d Decided) { f(d) }
func (watchDecided) Asked(context.Context, Question)        {}
func (watchDecided) Answered(context.Context, Answered)     {}

func TestErrorsQuoteNothingInLogs(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	const canary = "c4n4ry"
	logger.Info("x", "a", &RPCError{Method: "m", Code: 1, Detail: canary}, "b", &ExitError{Stderr: canary}, "c", &HandshakeError{Err: ErrHandshake, Stderr: canary},
		"d", Command{Path: "/bin/agent", Args: []string{canary}, Env: []string{canary}})
	_, _ = fmt.Fprintf(&log, "%v %+v", Command{Path: "/bin/agent", Args: []string{canary}}, ended(&ExitError{Stderr: canary}))
	assert.NotContains(t, log.String(), canary)
	assert.True(t, (&TimeoutError{}).Timeout())
	assert.Equal(t, "process: the agent does not support session/load: begin a new session instead", (&NotSupportedError{"session/load"}).Error())
}

func TestPassthrough(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "codex")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" >\"$OUT\"; test -n \"$ASSENT_MCP_TOKEN\" && exit \"$1\"\nexit 9\n"), 0o700))
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	require.NoError(t, err)
	defer null.Close()
	var warned []config.Warning
	terminal := Terminal{Stdin: null, Stdout: null, Stderr: null, Warn: func(w config.Warning) { warned = append(warned, w) }}
	launch := Launch{
		Command:  Command{Path: script, Args: []string{"0"}, Env: []string{"OUT=" + filepath.Join(dir, "out"), "PATH=" + os.Getenv("PATH")}},
		Config:   config.Config{MCPServers: config.Servers{{Name: "kandev", Command: "mine"}}},
		Endpoint: &endpoint.Options{},
	}
	// The script's first argument is what the injection put in front.
	err = Passthrough(t.Context(), launch, terminal)
	exit, ok := errors.AsType[*ExitError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, 2, exit.State.ExitCode(), "sh: -c is no number")
	assert.Equal(t, []config.Warning{{Code: config.WarnReplaced, Server: "kandev"}}, warned)
	args, err := os.ReadFile(filepath.Join(dir, "out"))
	require.NoError(t, err)
	assert.Contains(t, string(args), "mcp_servers.kandev.default_tools_approval_mode=\"approve\"\n0\n")

	launch.Command.Path = "assent-no-such-agent"
	_, ok = errors.AsType[*StartError](Passthrough(t.Context(), launch, terminal))
	assert.True(t, ok)

	launch.Command.Path, launch.Endpoint = script, nil
	exit, ok = errors.AsType[*ExitError](Passthrough(t.Context(), launch, terminal))
	require.True(t, ok)
	assert.Equal(t, 9, exit.State.ExitCode(), "without injection there is no secret")
}

func TestSpellingsOfOneID(t *testing.T) {
	quoted, err := json.Marshal("é")
	require.NoError(t, err)
	assert.Equal(t, acp.NewID(string(quoted)).Key(), acp.NewID(`"\u00e9"`).Key())
	assert.NotEqual(t, acp.NewID(`"7"`).Key(), acp.NewID(`7`).Key())
	assert.NotEqual(t, acp.NewID(`1`).Key(), acp.NewID(`1.0`).Key())
}
