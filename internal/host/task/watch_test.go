package task

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEvents(t *testing.T) {
	s, _ := newService(t)
	events, stop := s.Watch(100)
	parent := make1(t, s, "parent", "")
	child := make1(t, s, "child", parent)
	_, err := s.Message(t.Context(), Host{}, child, "begin")
	require.NoError(t, err)
	_, err = s.Message(t.Context(), Host{}, child, "go on")
	require.NoError(t, err)
	_, err = s.Stop(t.Context(), Host{}, child)
	require.NoError(t, err)
	stop()
	stop()
	var got []string
	for ev := range events {
		require.Equal(t, Changed, ev.Kind)
		got = append(got, fmt.Sprint(ev.Task.Title, " ", ev.Task.State))
	}
	assert.Equal(t, []string{"parent created", "child created", "parent created", "child running", "child stopped"}, got)
}

func TestSlowReaderIsToldSo(t *testing.T) {
	s, _ := newService(t)
	slow, stopSlow := s.Watch(2)
	defer stopSlow()
	fast, stopFast := s.Watch(100)
	defer stopFast()
	for n := range 5 {
		make1(t, s, fmt.Sprint(n), "")
	}
	assert.Len(t, fast, 5)
	var kinds []EventKind
	for range len(slow) {
		kinds = append(kinds, (<-slow).Kind)
	}
	assert.Equal(t, []EventKind{Changed, Changed, Lagged}, kinds)
	make1(t, s, "again", "")
	assert.Equal(t, "again", (<-slow).Task.Title)
	s.Close()
	_, open := <-slow
	assert.False(t, open)
	late, stop := s.Watch(1)
	_, open = <-late
	assert.False(t, open)
	stop()
}

// When there is no room, the tree that ended the longest time ago is forgotten.
func TestRoomForNewTasks(t *testing.T) {
	s, _ := newService(t)
	of := func(id, parent string, state State, age time.Duration) node {
		return node{task: Task{ID: ID(id), Parent: ID(parent), Title: id, State: state, Updated: now().Add(-age)}}
	}
	for _, n := range []node{of("old", "", Completed, 5*time.Hour), of("old-child", "old", Failed, 6*time.Hour), of("old-grandchild", "old-child", Stopped, 4*time.Hour)} {
		text, err := n.encode()
		require.NoError(t, err)
		require.NoError(t, s.mirror.Create(t.Context(), string(n.task.ID), text))
	}
	fill := func(id, parent string, state State, age time.Duration) { s.tasks[ID(id)] = of(id, parent, state, age) }
	s.mu.Lock()
	fill("open", "", Idle, 9*time.Hour)
	fill("open-child", "open", Stopped, 9*time.Hour)
	fill("closed", "", Completed, 7*time.Hour)
	fill("closed-open", "closed", Running, 7*time.Hour)
	fill("older-but-touched", "", Completed, 9*time.Hour)
	fill("touched-child", "older-but-touched", Completed, 3*time.Hour)
	for n := len(s.tasks); n < MaxTasks; n++ {
		fill(fmt.Sprint("more", n), "", Created, 10*time.Hour)
	}
	s.mu.Unlock()
	events, stop := s.Watch(100)
	new1 := make1(t, s, "new", "")
	stop()
	var forgotten []ID
	var last Event
	for ev := range events {
		if ev.Kind == Forgotten {
			assert.True(t, ev.Saw(person("view", "old"), "old"), "it was below, or is itself, the top one")
			forgotten, last = append(forgotten, ev.Task.ID), ev
		}
	}
	require.Equal(t, []ID{"old-grandchild", "old-child", "old"}, forgotten, "the top one last")
	assert.False(t, last.Saw(person("view", "old-child"), ""))
	assert.Len(t, s.tasks, MaxTasks-2)
	assert.Contains(t, s.tasks, new1)

	s.mu.Lock()
	delete(s.tasks, "older-but-touched")
	delete(s.tasks, "touched-child")
	for n := len(s.tasks); n < MaxTasks; n++ {
		fill(fmt.Sprint("even more", n), "", Created, 10*time.Hour)
	}
	s.mu.Unlock()
	_, err := s.Create(t.Context(), Host{}, Spec{Title: "too many"})
	assert.ErrorIs(t, err, ErrFull)
	assert.ErrorContains(t, err, "stop what is not needed")
}

// A task whose children are forgotten can complete and can be stopped.
func TestForgottenChildren(t *testing.T) {
	for method, end := range map[string]func(s *Service, id ID) error{
		"complete": func(s *Service, id ID) error { _, err := s.Complete(t.Context(), Session{id}, "done"); return err },
		"stop":     func(s *Service, id ID) error { _, err := s.Stop(t.Context(), Host{}, id); return err },
	} {
		s, _ := newService(t)
		parent := make1(t, s, "parent", "")
		require.NoError(t, s.forget(t.Context(), make1(t, s, "child", parent)))
		assert.NoError(t, end(s, parent), method)
	}
}

// Who saw a task is told that it is forgotten, and nobody else.
func TestWhoSawAForgottenTask(t *testing.T) {
	s, _ := newService(t)
	ids := family(t, s)
	events, stop := s.Watch(10)
	require.NoError(t, s.forget(t.Context(), ids["grandchild"]))
	stop()
	e := <-events
	require.Equal(t, Forgotten, e.Kind)
	for _, test := range []struct {
		who     Person
		watched string
		want    bool
	}{
		{person("view"), "", true},
		{person("view"), "grandparent", true},
		{person("view"), "grandchild", true},
		{person("view"), "sibling", false},
		{person("view", ids["me"]), "", true},
		{person("view", ids["grandchild"]), "child", true},
		{person("view", ids["sibling"]), "", false},
		{person("view", ids["sibling"], ids["child"]), "", true},
		{person("operate"), "", false},
		{Person{Scopes: person("view").Scopes, Tasks: []string{}}, "", false},
	} {
		assert.Equal(t, test.want, e.Saw(test.who, ids[test.watched]), "%v watches %q", test.who.Tasks, test.watched)
	}
}
