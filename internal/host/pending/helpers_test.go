package pending

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kandev/assent/internal/host/frame"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wire stands for the connection to an agent: it keeps every answer.
type wire struct {
	mu      sync.Mutex
	answers []Outcome
	broken  bool
}

func (w *wire) deliver(o Outcome) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers = append(w.answers, o)
	if w.broken {
		return errors.New("broken pipe")
	}
	return nil
}

// sent are the answers so far.
func (w *wire) sent() []Outcome {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Outcome(nil), w.answers...)
}

// last is the only answer on the wire.
func (w *wire) last(t *testing.T) Outcome {
	t.Helper()
	sent := w.sent()
	require.Len(t, sent, 1)
	return sent[0]
}

// Options as real agents offer them.
var (
	usual = []pipeline.Option{
		{ID: "allow-once", Kind: pipeline.AllowOnce, Label: "Yes"},
		{ID: "always", Kind: pipeline.AllowAlways, Label: "Yes, always"},
		{ID: "reject", Kind: pipeline.RejectOnce, Label: "No"},
	}
	allowOnly = []pipeline.Option{{ID: "a", Kind: pipeline.AllowOnce, Label: "Yes"}}
	fourOnce  = []pipeline.Option{
		{ID: "1", Kind: pipeline.AllowOnce}, {ID: "2", Kind: pipeline.AllowOnce},
		{ID: "3", Kind: pipeline.AllowOnce}, {ID: "4", Kind: pipeline.AllowOnce},
	}
)

var pends = pipeline.Result{Decision: pipeline.Decision{Verdict: pipeline.Pend, Reason: "nobody_approved"}, Stage: "pending"}

// offer is an ordinary offer of a session; parts of it are changed by tests.
func offer(instance InstanceID, session, id string, w *wire, options ...pipeline.Option) Offer {
	if len(options) == 0 {
		options = usual
	}
	return Offer{
		Instance: instance, ID: acp.NewID(id), Result: pends, Deliver: w.deliver,
		Request: &pipeline.Request{
			SessionID: session, Options: options,
			Call: pipeline.ToolCall{ID: "call", Title: pipeline.NewText("ls -la"), Kind: pipeline.NewText("execute")},
		},
	}
}

// newStore is a store with somebody in front of it.
func newStore(t *testing.T) *Store {
	t.Helper()
	return watched(t, Config{})
}

func watched(t *testing.T, c Config) *Store {
	t.Helper()
	s := New(c)
	t.Cleanup(s.Close)
	s.Attach(Scope{})
	return s
}

// register puts an offer into the store and returns the key that answers it.
func register(t *testing.T, s *Store, o Offer) Key {
	t.Helper()
	id, err := s.Register(o)
	require.NoError(t, err)
	return Key{Instance: o.Instance, Session: o.Request.SessionID, Request: id}
}

// listed are the keys of the open offers, oldest first.
func listed(s *Store) []Key {
	keys := []Key{}
	for _, snapshot := range s.List(Query{}) {
		keys = append(keys, snapshot.Key)
	}
	return keys
}

var someone = Responder{Name: "ada", Surface: "terminal"}

func resolves(t *testing.T, s *Store, key Key, a Answer) {
	t.Helper()
	assert.NoError(t, s.Resolve(key, a, someone))
}

func fails(t *testing.T, s *Store, key Key, a Answer, want Error) {
	t.Helper()
	assert.Equal(t, want, s.Resolve(key, a, someone))
}

// read is what a line says.
func read(line string) *frame.Frame {
	f := frame.Read([]byte(line))
	return &f
}

// decodedOffer is the offer that a raw line makes.
func decodedOffer(t *testing.T, line string, w *wire) Offer {
	t.Helper()
	m, err := acp.NewDecoder(acp.Options{}).FromAgent([]byte(line))
	require.NoError(t, err)
	require.NotNil(t, m.Offer)
	require.Empty(t, m.Offer.Reason, "the line is no offer that can pend")
	return Offer{Instance: "i", ID: m.Offer.ID, Request: &m.Offer.Request, Result: pends, Frame: read(line), Deliver: w.deliver}
}
