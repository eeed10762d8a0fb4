package task

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kandev/assent/internal/host/state"
)

// model is the rules once more, as simple as possible: no store, no locks.
type model struct {
	order  []ID
	parent map[ID]ID
	state  map[ID]State
}

func (m *model) exists(id ID) bool { _, ok := m.state[id]; return ok }

func (m *model) ancestors(id ID) (list []ID) {
	for ; m.exists(id); id = m.parent[id] {
		list = append(list, id)
	}
	return list
}

func (m *model) depth(id ID) int { return len(m.ancestors(id)) }

func (m *model) sees(who Actor, id ID) bool {
	switch a := who.(type) {
	case Session:
		return m.exists(a.Task) && m.exists(id) && (m.parent[a.Task] == id || slices.Contains(m.ancestors(id), a.Task))
	case Person:
		return m.exists(id) && (a.Tasks == nil || slices.ContainsFunc(m.ancestors(id), func(up ID) bool { return slices.Contains(a.Tasks, string(up)) }))
	}
	return m.exists(id)
}

// ended is what a session of an ended task is told, about what it may see.
func (m *model) ended(who Actor) error {
	if a, ok := who.(Session); ok && m.state[a.Task].Ended() {
		return ErrEnded
	}
	return nil
}

func (m *model) create(who Actor, parent ID) error {
	own, session := who.(Session)
	person, _ := who.(Person)
	if parent == "" && !session {
		if person.Tasks != nil {
			return ErrForbidden
		}
		return nil
	}
	switch {
	case session && own.Task != parent, !m.sees(who, parent):
		return ErrNotFound
	case m.state[parent].Ended():
		return ErrEnded
	case m.depth(parent) >= MaxDepth:
		return ErrFull
	}
	return nil
}

func (m *model) message(who Actor, id ID) error {
	own, session := who.(Session)
	if !m.sees(who, id) || session && own.Task == id {
		return ErrNotFound
	}
	if err := m.ended(who); err != nil {
		return err
	}
	if m.state[id].Ended() {
		return ErrEnded
	}
	if m.state[id] != Waiting {
		m.state[id] = Running
	}
	return nil
}

func (m *model) stop(who Actor, id ID, there func(ID) bool) (Outcome, error) {
	own, session := who.(Session)
	if !m.sees(who, id) || session && m.parent[id] != own.Task {
		return "", ErrNotFound
	}
	if err := m.ended(who); err != nil {
		return "", err
	}
	outcome := OutcomeNotRunning
	for _, t := range m.order {
		if !slices.Contains(m.ancestors(t), id) {
			continue
		}
		if !m.state[t].Ended() || there(t) {
			outcome = OutcomeStopped
		}
		if !m.state[t].Ended() {
			m.state[t] = Stopped
		}
	}
	return outcome, nil
}

func (m *model) complete(id ID) error {
	switch {
	case !m.exists(id):
		return ErrNotFound
	case m.state[id].Ended():
		return ErrEnded
	}
	for t, parent := range m.parent {
		if parent == id && !m.state[t].Ended() {
			return ErrChildren
		}
	}
	m.state[id] = Completed
	return nil
}

// machine is a service next to the model of it.
type machine struct {
	model
	bucket *state.Bucket
	runner *runner
	s      *Service
	count  int
}

func (m *machine) open(t *rapid.T) {
	var err error
	m.s, err = open(context.Background(), m.bucket, Options{Runner: m.runner})
	require.NoError(t, err)
}

func (m *machine) id(t *rapid.T) ID {
	return rapid.SampledFrom(append([]ID{"", "task-unknown"}, m.order...)).Draw(t, "task")
}

func (m *machine) who(t *rapid.T) Actor {
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		return person("all")
	case 1:
		return person("all", m.id(t), m.id(t))
	}
	return Session{m.id(t)}
}

func (m *machine) create(t *rapid.T) {
	who, parent := m.who(t), m.id(t)
	if own, ok := who.(Session); ok && parent == "" {
		parent = own.Task
	}
	m.count++
	made, err := m.s.Create(t.Context(), who, Spec{Title: fmt.Sprint("task ", m.count), Parent: parent})
	want := m.model.create(who, parent)
	require.ErrorIs(t, err, want)
	if want == nil {
		require.NoError(t, err)
		m.order = append(m.order, made.ID)
		m.parent[made.ID], m.state[made.ID] = parent, Created
	}
}

func (m *machine) message(t *rapid.T) {
	who, id := m.who(t), m.id(t)
	_, err := m.s.Message(t.Context(), who, id, "go on")
	assert.Equal(t, m.model.message(who, id), err)
}

func (m *machine) stop(t *rapid.T) {
	who, id := m.who(t), m.id(t)
	m.runner.told()
	outcome, want := m.model.stop(who, id, m.runner.there)
	got, err := m.s.Stop(t.Context(), who, id)
	assert.Equal(t, want, err)
	assert.Equal(t, outcome, got)
	for _, call := range m.runner.told() {
		assert.Regexp(t, "^stop ", call)
	}
}

func (m *machine) complete(t *rapid.T) {
	id := m.id(t)
	_, err := m.s.Complete(t.Context(), Session{id}, "done")
	assert.Equal(t, m.model.complete(id), err)
}

func (m *machine) report(t *rapid.T) {
	id := m.id(t)
	now := rapid.SampledFrom([]State{Running, Waiting, Idle, Failed}).Draw(t, "state")
	_, err := m.s.Report(t.Context(), Host{}, id, Report{State: now})
	if !m.exists(id) {
		assert.Equal(t, ErrNotFound, err)
		return
	}
	require.NoError(t, err)
	if !m.state[id].Ended() {
		m.state[id] = now
	}
}

// restart keeps everything; what ran is to be resumed, and is running again.
func (m *machine) restart(t *rapid.T) {
	m.s.Close()
	m.open(t)
	for _, id := range m.order {
		got, err := m.s.Get(Host{}, id)
		require.NoError(t, err)
		assert.Equal(t, m.state[id] == Running || m.state[id] == Waiting, got.Resume)
		if got.Resume {
			_, err := m.s.Report(t.Context(), Host{}, id, Report{State: m.state[id]})
			require.NoError(t, err)
		}
	}
}

// check compares what everybody sees.
func (m *machine) check(t *rapid.T) {
	for _, who := range []Actor{Host{}, m.who(t)} {
		var want []string
		for _, id := range m.order {
			if m.sees(who, id) {
				want = append(want, fmt.Sprint(id, " ", m.parent[id], " ", m.state[id]))
			}
		}
		list, err := m.s.List(who)
		if own, ok := who.(Session); ok && !m.exists(own.Task) {
			assert.Equal(t, ErrNotFound, err)
			continue
		}
		require.NoError(t, err)
		var got []string
		for _, task := range list {
			got = append(got, fmt.Sprint(task.ID, " ", task.Parent, " ", task.State))
		}
		assert.Equal(t, want, got)
	}
}

func TestMachine(t *testing.T) {
	store := openState(t, t.TempDir())
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		bucket, err := store.Bucket(context.Background(), fmt.Sprint("machine", round))
		require.NoError(t, err)
		m := &machine{model: model{parent: map[ID]ID{}, state: map[ID]State{}}, bucket: bucket, runner: &runner{}}
		m.open(t)
		defer func() { m.s.Close() }()
		t.Repeat(map[string]func(*rapid.T){
			"create": m.create, "create too": m.create, "create as well": m.create, "message": m.message,
			"stop": m.stop, "complete": m.complete, "report": m.report, "restart": m.restart, "": m.check,
		})
	})
}
