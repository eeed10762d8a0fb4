package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/pending"
)

// arrivals is an endpoint's observer.
type arrivals struct {
	mu    sync.Mutex
	tools []string
}

func (a *arrivals) Listed(endpoint.SessionID, []string) {}

func (a *arrivals) Arrived(s endpoint.SessionID, v endpoint.Arrival) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tools = append(a.tools, v.Tool)
}

func (a *arrivals) seen() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.tools
}

func TestCallsOfTheInjectedServerAreApprovedAndArrive(t *testing.T) {
	var at arrivals
	s := newStage(t, "demo", injected(&at))
	session := s.session(t)
	assert.Equal(t, "http", session.Injected())
	s.turn(t, session, "plan")
	s.none(t)
	assert.Equal(t, []string{"select injected_mcp allow_once", "select injected_mcp allow_once"}, s.decisions())
	assert.Equal(t, []string{"create_task_kandev", "list_tasks_kandev"}, at.seen())
}

func TestOtherCallsAreAsked(t *testing.T) {
	for answer, want := range map[pending.Answer]string{
		pending.Allow():  "Ran: the shell command.",
		pending.Deny():   "Did not run: the shell command (rejected).",
		pending.Cancel(): "Did not run: the shell command (cancelled).",
	} {
		t.Run(want, func(t *testing.T) {
			s := newStage(t, "demo", injected(nil))
			session := s.session(t)
			turn := s.prompt(t, session, "shell")
			q := s.next(t)
			assert.Equal(t, "echo hello from the demo agent", q.Action.Command)
			assert.Equal(t, "execute", q.Action.Type)
			require.NoError(t, s.store.Resolve(q.Key, answer, tester))
			require.NoError(t, receive(t, turn))
			assert.Equal(t, want, receive(t, s.says))
		})
	}
}

func TestWithoutInjectionNothingIsApproved(t *testing.T) {
	s := newStage(t, "asks by words")
	session := s.session(t)
	offer := `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c","name":"mcp__kandev__list_tasks_kandev"},"options":` + threeOptions + `}}`
	s.turn(t, session, offer+"\nend")
	q := s.next(t)
	assert.Equal(t, "kandev", q.Action.Server)
	assert.Equal(t, "list_tasks_kandev", q.Action.Tool)
	q.cancels(t)
	s.heard(t, fmt.Sprintf(isCancelled, "1"))

	s = newStage(t, "asks by words", injected(nil))
	session = s.session(t)
	s.knock(t, session.instance, s.tape.hidden[0])
	s.turn(t, session, offer+"\nend")
	s.heard(t, fmt.Sprintf(selectedA, "1"))
	s.none(t)
}

func TestALoadedSessionHasASecretOfItsOwn(t *testing.T) {
	var at arrivals
	s := newStage(t, "demo", injected(&at))
	session := s.session(t)
	first, ok := session.EndpointSession()
	require.True(t, ok)
	i := session.instance
	require.Equal(t, http.StatusOK, s.knock(t, i, s.tape.hidden[0]))

	loaded, err := i.LoadSession(t.Context(), session.ID(), t.TempDir())
	require.NoError(t, err)
	assert.Same(t, session, loaded)
	second, ok := session.EndpointSession()
	require.True(t, ok)
	assert.NotEqual(t, first, second)
	require.Len(t, s.tape.hidden, 2)
	assert.Equal(t, http.StatusUnauthorized, s.knock(t, i, s.tape.hidden[0]), "the old secret is worth nothing")
	assert.Equal(t, http.StatusOK, s.knock(t, i, s.tape.hidden[1]))

	s.turn(t, session, "plan")
	s.none(t)
	assert.Len(t, at.seen(), 2)
}

// knock lists the endpoint's tools with the given secret.
func (s *stage) knock(t *testing.T, i *Instance, secret string) int {
	t.Helper()
	return s.post(t, i, secret, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
}

// post sends a request to the endpoint.
func (s *stage) post(t *testing.T, i *Instance, secret, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprintf("http://localhost:%d/mcp", i.Config().Port), strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+secret)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(req)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}

func TestALoadThatFailsChangesNothing(t *testing.T) {
	s := newStage(t, "loads", injected(nil))
	session := s.session(t)
	before, _ := session.EndpointSession()
	_, err := session.instance.LoadSession(t.Context(), session.ID(), "/")
	var rpc *RPCError
	require.ErrorAs(t, err, &rpc)
	assert.Equal(t, "session/load", rpc.Method)
	after, _ := session.EndpointSession()
	assert.Equal(t, before, after)
	assert.Equal(t, http.StatusOK, s.knock(t, session.instance, s.tape.hidden[0]))
	assert.Equal(t, http.StatusUnauthorized, s.knock(t, session.instance, s.tape.hidden[1]))

	_, err = session.instance.ResumeSession(t.Context(), session.ID(), "/")
	require.NoError(t, err)
	fork, err := session.instance.ForkSession(t.Context(), session.ID(), "/")
	require.NoError(t, err)
	assert.Equal(t, "s2", fork.ID())
	s.turn(t, fork, "go")
}

func TestAnAgentThatTakesNoServersGetsNone(t *testing.T) {
	s := newStage(t, "no capabilities", injected(nil))
	session := s.session(t)
	assert.Empty(t, session.Injected())
	_, has := session.EndpointSession()
	assert.False(t, has)
	assert.Equal(t, []config.Warning{{Code: config.WarnNoInjection, Server: "kandev"}}, session.Warnings())
	assert.Contains(t, receive(t, s.says), `"mcpServers":[]`)
	i := session.instance
	for method, open := range map[string]func() (*Session, error){
		"session/load":   func() (*Session, error) { return i.LoadSession(t.Context(), "s1", "/") },
		"session/resume": func() (*Session, error) { return i.ResumeSession(t.Context(), "s1", "/") },
		"session/fork":   func() (*Session, error) { return i.ForkSession(t.Context(), "s1", "/") },
	} {
		_, err := open()
		assert.Equal(t, &NotSupportedError{method}, err)
	}
}

func TestSessionsThatAreNone(t *testing.T) {
	s := newStage(t, "nameless session")
	_, err := s.start(t).NewSession(t.Context(), "/")
	assert.ErrorIs(t, err, ErrNoSession)

	s = newStage(t, "one id for all", injected(nil))
	session := s.session(t)
	_, err = session.instance.NewSession(t.Context(), "/")
	assert.ErrorIs(t, err, ErrSessionTwice)
	assert.Equal(t, http.StatusOK, s.knock(t, session.instance, s.tape.hidden[0]))
	assert.Equal(t, http.StatusUnauthorized, s.knock(t, session.instance, s.tape.hidden[1]))
}

func TestNoTextOfTheHostIsSentWhenItIsNoUTF8(t *testing.T) {
	s := newStage(t, "asks by words")
	session := s.session(t)
	_, err := session.Prompt(t.Context(), "\xff")
	assert.ErrorIs(t, err, ErrNoText)
	s.turn(t, session, "end")
}

func TestSecretsOfTheHostAreShownToNobody(t *testing.T) {
	var log bytes.Buffer
	const users = "a-users-own-secret"
	s := newStage(t, "refuses sessions", injected(nil), func(o *Options, l *Launch) {
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		l.Config.MCPServers = config.Servers{{Name: "docs", Type: "http", URL: "http://localhost:1/", Headers: []config.Header{{Name: "X", Value: users}}}}
	})
	i := s.start(t)
	_, err := i.NewSession(t.Context(), "/")
	rpc, ok := errors.AsType[*RPCError](err)
	require.True(t, ok)
	require.Contains(t, rpc.Detail, `cannot: {"jsonrpc"`, "the agent quoted the request")
	require.Len(t, s.tape.hidden, 1)
	for _, secret := range []string{users, s.tape.hidden[0]} {
		assert.NotContains(t, rpc.Detail, secret)
		assert.NotContains(t, log.String(), secret)
		assert.NotContains(t, fmt.Sprintf("%v %+v", s.launch.Command, err), secret)
	}
}

// brokenTape is a recorder whose disk is full.
type brokenTape struct{ tape }

var errFull = errors.New("disk full")

func (*brokenTape) Agent([]byte) error  { return errFull }
func (*brokenTape) Client([]byte) error { return errFull }

func TestARecordingThatFailsStopsNothing(t *testing.T) {
	var log bytes.Buffer
	s := newStage(t, "asks by words", func(o *Options, l *Launch) {
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		l.Recorder = func(config.InstanceConfig) (Recorder, error) { return &brokenTape{}, nil }
	})
	session := s.session(t)
	s.turn(t, session, "end")
	session.instance.Stop(t.Context())
	assert.Equal(t, 1, strings.Count(log.String(), "disk full"))

	s = newStage(t, "asks by words", injected(nil), func(_ *Options, l *Launch) {
		l.Recorder = func(config.InstanceConfig) (Recorder, error) { return nil, errFull }
	})
	_, err := s.manager.Start(t.Context(), s.launch)
	assert.ErrorIs(t, err, errFull)
}

// TestL50_Canary plants secrets wherever an agent can put text.
func TestL50_Canary(t *testing.T) {
	const canary = "c4n4ry"
	var log bytes.Buffer
	s := newStage(t, "asks by words", injected(nil), func(o *Options, l *Launch) {
		o.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		l.Command.Env = append(l.Command.Env, "API_KEY="+canary)
		l.Command.Args = []string{"-test.run=" + canary}
	})
	session := s.session(t)
	offer := strings.ReplaceAll(`{"jsonrpc":"2.0","id":"X","method":"session/request_permission","params":{"sessionId":"X","_meta":{"X":"X"},`+
		`"toolCall":{"toolCallId":"X","name":"mcp__X__X__X","title":"curl -u X: https://x","kind":"X","_meta":{"claudeCode":"X"},"rawInput":{"command":"X","url":"X","path":"X"}},`+
		`"options":[{"optionId":"X","name":"X","kind":"X"}]}}`, "X", canary)
	unreadable := strings.Replace(offer, `"_meta"`, `"_meta":1,"_meta"`, 1)
	noise := []string{canary, "[" + canary, `{"jsonrpc":"2.0","id":4,"method":"` + canary + `"}`, `{"jsonrpc":"2.0","method":"` + canary + `"}`,
		`{"jsonrpc":"2.0","id":"` + canary + `","result":{}}`, `[{"x":"` + canary + `"}]`, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"x":"` + canary + `"}}`,
		strings.Replace(offer, `"id":"`+canary+`"`, `"id":null`, 1)}
	s.turn(t, session, strings.Join(append(noise, unreadable, offer, offer), "\n")+"\nend")
	first, second := s.next(t), s.next(t)
	require.Contains(t, first.Action.Title, canary, "a person sees it")
	slog.New(slog.NewTextHandler(&log, nil)).Info("question", "question", first.Question, "action", first.Action)
	_, _ = fmt.Fprintf(&log, "%v %+v %#v", first.Question, first.Question, first.Action)
	first.selects(t, 0)
	assert.NotContains(t, s.store.Resolve(second.Key, pending.Select("no "+canary), tester).Error(), canary)
	second.cancels(t)
	for range 5 {
		receive(t, s.says)
	}
	session.instance.Stop(t.Context())
	assert.Contains(t, log.String(), `"decision"`)
	assert.NotContains(t, log.String(), canary)
}

func TestTheAgentIsStartedWhereItShould(t *testing.T) {
	s := newStage(t, "prints banners", func(_ *Options, l *Launch) { l.Command.Dir = t.TempDir() })
	i := s.start(t)
	assert.Equal(t, "fake", i.AgentName())
	assert.Equal(t, "1", i.AgentVersion())
	assert.NotEmpty(t, i.ID())
	assert.NoError(t, i.Err(), "it has not ended")
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", i.child.Pid()))
	if err == nil { // only some systems tell
		assert.Equal(t, s.launch.Command.Dir, dir)
	}
}
