package pagetest

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/frame"
	"github.com/kandev/assent/internal/host/gateway"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/testlog"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// stand is a small daemon behind the real gateway, with a real store of offers. It
// can be restarted on its address.
type stand struct {
	testing.TB
	address string
	log     testlog.Buffer

	mu        sync.Mutex
	run       int
	gateway   *gateway.Gateway
	store     *pending.Store
	stop      func()
	told      chan struct{} // closed when all changes of the store are published
	state     wholeState    // without offers
	answers   []string      // what agents were answered: option ids, or "cancelled"
	asked     []string      // what people asked of tasks
	instances map[string]pending.InstanceID
	tokens    map[string]dispatch.Person
}

func begin(t testing.TB) *stand {
	t.Helper()
	everything := dispatch.Scopes{dispatch.ScopeView, dispatch.ScopeOperate, dispatch.ScopeAnswer}
	s := &stand{
		TB: t, address: "127.0.0.1:0", instances: map[string]pending.InstanceID{},
		tokens: map[string]dispatch.Person{
			"s3cret": {Name: "desk", Scopes: everything},
			"phone":  {Name: "phone", Scopes: everything},
			"wall":   {Name: "wall", Scopes: dispatch.Scopes{dispatch.ScopeView}},
		},
		state: wholeState{
			Started:   time.Now(),
			Tasks:     []task{{ID: "t1", Title: "Mend the build", State: "waiting", Agent: "claude-acp", Directory: "/src/app", Created: time.Now().Add(time.Second)}},
			Instances: []instance{{ID: "i1", Task: "t1", Agent: "claude-acp", AgentName: "claude", State: "running", Automatic: true}},
			Agents:    []agent{{"claude", "/src/app", true, false}, {"codex", "/src", false, false}},
		},
	}
	s.up()
	t.Cleanup(s.down)
	return s
}

// Find knows the tokens.
func (s *stand) Find(secret string) (dispatch.Person, bool) {
	p, ok := s.tokens[secret]
	return p, ok
}

// up starts a run of the daemon.
func (s *stand) up() {
	s.Helper()
	s.run++
	s.state.Server = fmt.Sprintf("run-%d", s.run)
	s.store = pending.New(pending.Config{MaxOpenPerInstance: 20000})
	s.store.Attach(pending.Scope{})
	s.connect()
}

// connect opens the gateway on the address of the stand.
func (s *stand) connect() {
	s.Helper()
	listener, err := net.Listen("tcp", s.address)
	require.NoError(s, err)
	s.address = listener.Addr().String()
	d := dispatch.New(s.log.Logger())
	s.actions(d)
	s.gateway, err = gateway.Open(gateway.Options{
		Listener: listener, Dispatcher: d, Tokens: s, Run: s.state.Server, Logger: s.log.Logger(),
		MaySee: func(dispatch.Person, string, string) bool { return true },
	})
	require.NoError(s, err)
	events, stop := s.store.Watch(1 << 15)
	s.stop, s.told = stop, make(chan struct{})
	go s.publish(events, s.gateway, s.told)
}

// publish tells clients what changes in the store.
func (s *stand) publish(events <-chan pending.Event, g *gateway.Gateway, done chan<- struct{}) {
	defer close(done)
	for e := range events {
		if e.Kind == pending.Opened {
			_ = g.Publish(gateway.Event{Name: "offer.opened", Task: "t1", Payload: map[string]any{"offer": offerOf(e.Snapshot)}})
			continue
		}
		_ = g.Publish(gateway.Event{Name: "offer.closed", Task: "t1", Payload: closedOf(e.Outcome)})
	}
}

// tell publishes an event.
func (s *stand) tell(name string, payload any) {
	s.Helper()
	require.NoError(s, s.gateway.Publish(gateway.Event{Name: name, Task: "t1", Payload: payload}))
}

// down ends the run. Clients hear nothing of its offers any more.
func (s *stand) down() {
	s.Helper()
	s.disconnect()
	s.store.Close()
}

// disconnect closes the gateway alone.
func (s *stand) disconnect() {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	require.NoError(s, s.gateway.Shutdown(ctx))
	s.stop()
	<-s.told
}

// ask registers an offer of a session and returns its key.
func (s *stand) ask(line string, options ...pipeline.Option) pending.Key {
	s.Helper()
	if len(options) == 0 {
		options = usual
	}
	f := frame.Read([]byte(line))
	o := pending.Offer{
		Instance: "i1", ID: acp.NewID("7"), Frame: &f,
		Result:  pipeline.Result{Decision: pipeline.Decision{Verdict: pipeline.Pend, Reason: "not_injected"}, Stage: "pending"},
		Request: &pipeline.Request{SessionID: f.Session, Options: options, Call: pipeline.ToolCall{ID: "call", Title: pipeline.NewText(f.Title), Kind: pipeline.NewText(f.Kind)}},
		Deliver: s.deliver,
	}
	s.mu.Lock()
	s.instances[f.Session] = o.Instance
	s.mu.Unlock()
	id, err := s.store.Register(o)
	require.NoError(s, err)
	return pending.Key{Instance: o.Instance, Session: f.Session, Request: id}
}

func (s *stand) deliver(o pending.Outcome) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.Verdict == pipeline.Select {
		s.answers = append(s.answers, o.OptionID)
	} else {
		s.answers = append(s.answers, "cancelled")
	}
	return nil
}

// answered is what agents were answered so far.
func (s *stand) answered() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.answers)
}

// requests are what people asked of tasks so far.
func (s *stand) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// usual are options as real agents offer them, not in the order of the buttons.
var usual = []pipeline.Option{
	{ID: "always", Kind: pipeline.AllowAlways, Label: "Yes, and don't ask again"},
	{ID: "yes", Kind: pipeline.AllowOnce, Label: "Yes"},
	{ID: "no", Kind: pipeline.RejectOnce, Label: "No, and tell it what to do"},
}

// shell is a request to run a command.
func shell(command string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"call",`+
		`"kind":"execute","title":%q,"rawInput":{"command":%q,"description":"a command"}}}}`, command, command)
}

var (
	id7     = acp.NewID("7")
	someone = pending.Responder{Name: "ada", Surface: "terminal"}
)
