package task

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each task of a tree is stored as stopped before any agent has ended, all agents are
// told at the same time, and a task outside goes on.
func TestAStopWaitsForNoAgentBeforeTheNext(t *testing.T) {
	s, r := newService(t)
	ids := family(t, s)
	inside := []string{"me", "child", "grandchild"}
	var all sync.WaitGroup
	all.Add(len(inside))
	told := make(chan struct{})
	go func() { all.Wait(); close(told) }()
	r.during = func(call string, task Task) {
		assert.Equal(t, Stopped, task.State)
		for id := task.ID; id != ids["parent"]; id = get(t, s, id).Parent {
			assert.Equal(t, Stopped, get(t, s, id).State, "%s of %s", call, task.Title)
		}
		all.Done()
		select { // no agent ends before each was told
		case <-told:
		case <-time.After(20 * time.Second):
			assert.Fail(t, "the next agent is not told before this one has ended")
		}
		for _, name := range inside {
			assert.Equal(t, Stopped, get(t, s, ids[name]).State)
		}
		_, err := s.Create(t.Context(), Session{task.ID}, Spec{Title: "late"})
		assert.Equal(t, ErrEnded, err)
	}
	outcome, err := s.Stop(t.Context(), Host{}, ids["me"])
	require.NoError(t, err)
	assert.Equal(t, OutcomeStopped, outcome)
	r.during = nil
	_, err = s.Create(t.Context(), Session{ids["parent"]}, Spec{Title: "another"})
	assert.NoError(t, err)
}

// A wide tree stops as a whole.
func TestAStopOfManyTasks(t *testing.T) {
	s, r := newService(t)
	top := make1(t, s, "top", "")
	const children = 3 * marksAtOnce
	for i := range children {
		make1(t, s, fmt.Sprint(i), top)
	}
	_, err := s.Stop(t.Context(), Host{}, top)
	require.NoError(t, err)
	assert.Len(t, r.told(), children+1)
	list, err := s.List(Host{})
	require.NoError(t, err)
	for _, task := range list {
		assert.Equal(t, Stopped, task.State)
	}
}
