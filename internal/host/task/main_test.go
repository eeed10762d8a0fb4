package task

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/state"
	"github.com/kandev/assent/internal/testlog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// runner writes down what it is told to do.
type runner struct {
	mu      sync.Mutex
	calls   []string
	running map[ID]bool
	broken  error                        // of every call
	texts   []string                     // of prompts
	during  func(call string, task Task) // is called by every call
}

func (r *runner) call(name string, t Task) error {
	r.mu.Lock()
	r.calls = append(r.calls, name+" "+t.Title)
	if r.broken == nil {
		if r.running == nil {
			r.running = map[ID]bool{}
		}
		switch name {
		case "prompt":
			r.running[t.ID] = true
		case "stop":
			delete(r.running, t.ID)
		}
	}
	err, during := r.broken, r.during
	r.mu.Unlock()
	if during != nil {
		during(name, t)
	}
	return err
}

func (r *runner) Prompt(_ context.Context, t Task, text string) error {
	r.mu.Lock()
	r.texts = append(r.texts, text)
	r.mu.Unlock()
	return r.call("prompt", t)
}

func (r *runner) Interrupt(_ context.Context, t Task) (bool, error) {
	there := r.there(t.ID)
	return there, r.call("interrupt", t)
}

func (r *runner) Stop(_ context.Context, t Task) (bool, error) {
	there := r.there(t.ID)
	return there, r.call("stop", t)
}

// there says whether a task has an agent.
func (r *runner) there(id ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running[id]
}

// told gives what it was told since the last time.
func (r *runner) told() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

var errBroken = errors.New("it does not start")

func openState(t *testing.T, dir string) *state.State {
	t.Helper()
	s, err := state.Open(t.Context(), state.Options{Dir: dir})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

func openService(t *testing.T, s *state.State, r Runner) *Service {
	t.Helper()
	service, err := New(t.Context(), s, Options{Runner: r, Logger: new(testlog.Buffer).Logger()})
	require.NoError(t, err)
	t.Cleanup(service.Close)
	return service
}

func newService(t *testing.T) (*Service, *runner) {
	t.Helper()
	r := &runner{}
	return openService(t, openState(t, t.TempDir()), r), r
}

func make1(t *testing.T, s *Service, title string, parent ID) ID {
	t.Helper()
	made, err := s.Create(t.Context(), Host{}, Spec{Title: title, Parent: parent})
	require.NoError(t, err)
	return made.ID
}

// family makes tasks by name. "me" is in the middle of them.
func family(t *testing.T, s *Service) map[string]ID {
	ids := map[string]ID{"unknown": "task-unknown", "": ""}
	for _, pair := range [][2]string{
		{"grandparent", ""}, {"parent", "grandparent"}, {"uncle", "grandparent"}, {"me", "parent"}, {"sibling", "parent"},
		{"nephew", "sibling"}, {"child", "me"}, {"grandchild", "child"}, {"stranger", ""},
	} {
		ids[pair[0]] = make1(t, s, pair[0], ids[pair[1]])
	}
	return ids
}

var all = []string{"grandparent", "parent", "uncle", "me", "sibling", "nephew", "child", "grandchild", "stranger", "unknown", ""}

// person has scopes, and is limited to tasks if there are any.
func person(scopes string, tasks ...ID) Person {
	p := Person{Name: "wall"}
	for _, s := range map[string][]dispatch.Scope{
		"view": {dispatch.ScopeView}, "operate": {dispatch.ScopeOperate}, "answer": {dispatch.ScopeAnswer},
		"all": {dispatch.ScopeView, dispatch.ScopeOperate, dispatch.ScopeAnswer}, "": nil,
	}[scopes] {
		p.Scopes = append(p.Scopes, s)
	}
	for _, id := range tasks {
		p.Tasks = append(p.Tasks, string(id))
	}
	return p
}

func get(t *testing.T, s *Service, id ID) Task {
	t.Helper()
	got, err := s.Get(Host{}, id)
	require.NoError(t, err)
	return got
}

func titles(tasks []Task) []string {
	var list []string
	for _, t := range tasks {
		list = append(list, t.Title)
	}
	return list
}

// outsider is an actor that this package does not know.
type outsider struct{ Session }

func name(who Actor) string { return fmt.Sprintf("%T%v", who, who) }

// contextThatEnds has ended.
func contextThatEnds(t *testing.T) (context.Context, func()) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx, cancel
}
