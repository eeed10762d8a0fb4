package process

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/stages"
)

// patience is how long a test waits for what has to come.
const patience = 20 * time.Second

// asked is a question that a test answers.
type asked struct {
	Question
	store *pending.Store
}

var tester = pending.Responder{Name: "ada", Surface: "test"}

// selects answers with the option of the given index.
func (a asked) selects(t *testing.T, option int) {
	t.Helper()
	require.NoError(t, a.store.Resolve(a.Key, pending.Select(a.Options[option].ID), tester))
}

func (a asked) cancels(t *testing.T) {
	t.Helper()
	require.NoError(t, a.store.Resolve(a.Key, pending.Cancel(), tester))
}

// over makes sure that a late answer is told why it is late.
func (a asked) over(t *testing.T, code pending.Code, reason pipeline.Reason) {
	t.Helper()
	assert.Equal(t, pending.Error{Code: code, Reason: reason}, a.store.Resolve(a.Key, pending.Allow(), tester))
}

// open makes sure that the offer still waits.
func (a asked) open(t *testing.T) {
	t.Helper()
	_, err := a.store.Get(a.Key)
	assert.NoError(t, err)
}

// desk is a person in a test: questions wait on a channel.
type desk struct {
	store     *pending.Store
	questions chan asked
}

// next waits for a question.
func (d *desk) next(t *testing.T) asked { return receive(t, d.questions) }

// none makes sure that nothing was asked so far.
func (d *desk) none(t *testing.T) {
	t.Helper()
	select {
	case q := <-d.questions:
		t.Fatalf("nothing was to be asked, but: %v", q.Result)
	default:
	}
}

func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		require.FailNow(t, "nothing came")
		panic("unreachable")
	}
}

func wait(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		require.FailNow(t, "it did not end")
	}
}

// diary is a watcher that keeps everything.
type diary struct {
	mu       sync.Mutex
	decided  []Decided
	says     chan string // texts of the agent
	answered chan Answered
	fired    chan Fired
	unasked  chan Unasked
	onUpdate func(context.Context, View)
}

func (d *diary) Updated(ctx context.Context, u Update) {
	v := u.View()
	if d.onUpdate != nil {
		d.onUpdate(ctx, v)
		return
	}
	if v.Kind == "agent_message_chunk" {
		d.says <- v.Text
	}
}

func (d *diary) Decided(_ context.Context, v Decided) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.decided = append(d.decided, v)
}

func (s *stage) Asked(_ context.Context, q Question) { s.questions <- asked{q, s.store} }

func (d *diary) Answered(_ context.Context, a Answered) {
	select {
	case d.answered <- a:
	default:
	}
}

func (d *diary) Fired(_ context.Context, f Fired)     { d.fired <- f }
func (d *diary) Unasked(_ context.Context, u Unasked) { d.unasked <- u }

// decisions are "verdict reason kind" of each offer so far.
func (d *diary) decisions() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, v := range d.decided {
		out = append(out, strings.TrimSpace(v.Result.Decision.Verdict.String()+" "+string(v.Result.Decision.Reason)+" "+v.OptionKind))
	}
	return out
}

// tape is a recorder in memory.
type tape struct {
	mu     sync.Mutex
	client []string
	hidden []string
}

func (r *tape) Agent([]byte) error { return nil }

func (r *tape) Client(line []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.client = append(r.client, string(line))
	return nil
}

func (r *tape) Hide(secret string) { r.hidden = append(r.hidden, secret) }

// answers are the lines to the agent that answer its requests.
func (r *tape) answers() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, line := range r.client {
		if !strings.Contains(line, `"method":`) {
			out = append(out, line)
		}
	}
	return out
}

// stage is everything around one agent in a test.
type stage struct {
	*desk
	*diary
	tape    tape
	manager *Manager
	launch  Launch
}

// newStage makes the surroundings of the named fake agent.
func newStage(t *testing.T, agent string, change ...func(*Options, *Launch)) *stage {
	t.Helper()
	s := &stage{
		desk:  &desk{store: pending.New(pending.Config{}), questions: make(chan asked, 8192)},
		diary: &diary{says: make(chan string, 8192), answered: make(chan Answered, 8192), fired: make(chan Fired, 64), unasked: make(chan Unasked, 64)},
	}
	set, err := dialects.Index(dialects.All())
	require.NoError(t, err)
	factory, err := stages.NewPipelineFactory(stages.HostOrder(), append(stages.Builtin(set), stages.WitnessFactory()))
	require.NoError(t, err)
	o := Options{
		Pipelines: factory, Dialects: set, Store: s.store, Watcher: s, Version: "test",
		Timeouts: Timeouts{Initialize: patience, Session: patience, Close: patience, Term: patience},
	}
	s.launch = Launch{
		Command:  Command{Path: os.Args[0], Env: append(os.Environ(), fakeVariable+"="+agent, "GORACE=atexit_sleep_ms=0")},
		Config:   config.Config{Agent: "claude-acp"},
		Recorder: func(config.InstanceConfig) (Recorder, error) { return &s.tape, nil },
	}
	for _, c := range change {
		c(&o, &s.launch)
	}
	if o.Store == s.store {
		s.store.Attach(pending.Scope{})
	}
	s.store = o.Store
	t.Cleanup(func() { s.store.Close() })
	s.manager, err = NewManager(o)
	require.NoError(t, err)
	return s
}

// injected makes the launch inject a server that tells the observer.
func injected(o endpoint.Observer) func(*Options, *Launch) {
	return func(_ *Options, l *Launch) { l.Endpoint = &endpoint.Options{Observer: o} }
}

// start starts the agent, which is stopped at the end of the test.
func (s *stage) start(t *testing.T) *Instance {
	t.Helper()
	i, err := s.manager.Start(t.Context(), s.launch)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // kill it
		i.Stop(ctx)
	})
	return i
}

// session starts the agent and makes a session.
func (s *stage) session(t *testing.T) *Session {
	t.Helper()
	session, err := s.start(t).NewSession(t.Context(), t.TempDir())
	require.NoError(t, err)
	return session
}

// prompt begins a turn; the channel gets its end.
func (s *stage) prompt(t *testing.T, session *Session, text string) <-chan error {
	t.Helper()
	c, err := session.begin(text)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { o := <-c.answer; done <- o.err }()
	return done
}

// turn plays a whole turn.
func (s *stage) turn(t *testing.T, session *Session, text string) {
	t.Helper()
	require.NoError(t, receive(t, s.prompt(t, session, text)))
}

// heard waits until the agent has said that the given line arrived.
func (s *stage) heard(t *testing.T, line string) {
	t.Helper()
	assert.Equal(t, line, receive(t, s.says))
}

const (
	selectedA   = `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"a"}}}`
	isCancelled = `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"cancelled"}}}`
)

// kill kills the agent's process alone.
func kill(i *Instance) error {
	p, err := os.FindProcess(i.child.Pid())
	if err == nil {
		err = p.Kill()
	}
	return err
}
