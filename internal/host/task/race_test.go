package task

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Two services that write to one store at the same time: nothing that was
// acknowledged is lost, and both end up the same.
func TestTwoWritersLoseNothing(t *testing.T) {
	store := openState(t, t.TempDir())
	services := []*Service{openService(t, store, &runner{}), openService(t, store, &runner{})}
	parent := make1(t, services[0], "parent", "")
	require.Eventually(t, func() bool { _, err := services[1].Get(Host{}, parent); return err == nil }, 5*time.Second, time.Millisecond)
	var mu sync.Mutex
	made := map[ID]bool{}
	var all sync.WaitGroup
	for n := range 4 {
		s := services[n%2]
		all.Go(func() {
			for i := range 12 {
				child, err := s.Create(t.Context(), Session{parent}, Spec{Title: "child"})
				if !assert.NoError(t, err) {
					return
				}
				mu.Lock()
				made[child.ID] = true
				mu.Unlock()
				_, err = s.Report(t.Context(), Host{}, parent, Report{State: Running, Instance: fmt.Sprint(n, " ", i)})
				assert.NoError(t, err)
			}
		})
	}
	all.Wait()
	for _, s := range services {
		assert.Eventually(t, func() bool { // what the other one wrote is heard a moment later
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.tasks) == len(made)+1 && len(s.tasks[parent].children) == len(made)
		}, 5*time.Second, time.Millisecond)
		s.mu.Lock()
		for _, child := range s.tasks[parent].children {
			assert.True(t, made[child])
		}
		s.mu.Unlock()
	}
	assert.Len(t, made, 48)
}

// A parent that completes while children are made: whoever is first, no completed
// task has a child that goes on.
func TestCompletionAgainstCreation(t *testing.T) {
	store := openState(t, t.TempDir())
	services := []*Service{openService(t, store, &runner{}), openService(t, store, &runner{})}
	refused := 0
	for range 30 {
		parent := make1(t, services[0], "parent", "")
		require.Eventually(t, func() bool { _, err := services[1].Get(Host{}, parent); return err == nil }, 5*time.Second, 100*time.Microsecond)
		var all sync.WaitGroup
		var completed, created error
		var child Task
		all.Go(func() { _, completed = services[0].Complete(t.Context(), Session{parent}, "done") })
		all.Go(func() { child, created = services[1].Create(t.Context(), Session{parent}, Spec{Title: "child"}) })
		all.Wait()
		assert.True(t, (completed == nil) != (created == nil), "%v, %v", completed, created)
		if created != nil {
			refused++
			assert.ErrorIs(t, created, ErrEnded)
			list, err := services[1].List(Session{parent})
			require.NoError(t, err)
			assert.Equal(t, []string{"parent"}, titles(list))
			continue
		}
		assert.Equal(t, ErrChildren, completed)
		assert.Equal(t, Created, get(t, services[1], child.ID).State)
	}
	t.Log(refused, "children came too late")
}

// After a stop no text reaches the agent, however they meet.
func TestStopAgainstMessages(t *testing.T) {
	s, r := newService(t)
	for range 20 {
		id := make1(t, s, "task", "")
		var all sync.WaitGroup
		begin := make(chan struct{})
		for range 4 {
			all.Go(func() {
				<-begin
				if _, err := s.Message(t.Context(), person("operate"), id, "go on"); err != nil {
					assert.Equal(t, ErrEnded, err)
				}
			})
		}
		outcomes := make([]Outcome, 3)
		for n := range outcomes {
			all.Go(func() {
				<-begin
				var err error
				outcomes[n], err = s.Stop(t.Context(), person("operate"), id)
				assert.NoError(t, err)
			})
		}
		close(begin)
		all.Wait()
		assert.ElementsMatch(t, []Outcome{OutcomeStopped, OutcomeNotRunning, OutcomeNotRunning}, outcomes)
		calls := strings.Join(r.told(), ",")
		_, after, _ := strings.Cut(calls, "stop")
		assert.NotContains(t, after, "prompt", calls)
		assert.Equal(t, Stopped, get(t, s, id).State)
	}
	assert.Empty(t, s.gates.held)
}

// A stop that comes while a text is handed over waits until that is done.
func TestStopWaitsForAPrompt(t *testing.T) {
	s, r := newService(t)
	id := make1(t, s, "task", "")
	var stop sync.WaitGroup
	r.during = func(call string, _ Task) {
		if call != "prompt" {
			return
		}
		stop.Go(func() {
			_, err := s.Stop(t.Context(), Host{}, id)
			assert.NoError(t, err)
		})
		assert.Eventually(t, func() bool {
			s.gates.mu.Lock()
			defer s.gates.mu.Unlock()
			return s.gates.held[id].users == 2
		}, 5*time.Second, time.Millisecond)
		for range 100 { // far longer than the stop would need
			assert.NoError(t, s.mirror.Refresh(t.Context(), string(id)))
		}
		assert.Equal(t, []string{"prompt task"}, r.told())
		assert.Equal(t, Running, get(t, s, id).State)
	}
	_, err := s.Message(t.Context(), Host{}, id, "begin")
	require.NoError(t, err)
	stop.Wait()
	assert.Equal(t, []string{"stop task"}, r.told())
	assert.Equal(t, Stopped, get(t, s, id).State)
}

// A tree that is stopped while its tasks make more: nothing of it goes on.
func TestStopAgainstCreation(t *testing.T) {
	s, _ := newService(t)
	for range 10 {
		top := make1(t, s, "top", "")
		child := make1(t, s, "child", top)
		var all sync.WaitGroup
		for _, id := range []ID{top, child} {
			all.Go(func() {
				for {
					if _, err := s.Create(t.Context(), Session{id}, Spec{Title: "more"}); err != nil {
						assert.ErrorIs(t, err, ErrEnded)
						return
					}
				}
			})
		}
		_, err := s.Stop(t.Context(), person("operate"), top)
		require.NoError(t, err)
		all.Wait()
		list, err := s.List(person("view", top))
		require.NoError(t, err)
		assert.GreaterOrEqual(t, len(list), 2)
		for _, task := range list {
			assert.Equal(t, Stopped, task.State)
		}
	}
}

func TestGateGivesUpWithItsCaller(t *testing.T) {
	s, r := newService(t)
	id := make1(t, s, "task", "")
	leave, err := s.gates.enter(t.Context(), id)
	require.NoError(t, err)
	ctx, cancel := contextThatEnds(t)
	defer cancel()
	for method, call := range map[string]func() error{
		"interrupt": func() error { _, err := s.Interrupt(ctx, Host{}, id); return err },
		"message":   func() error { _, err := s.Message(ctx, Host{}, id, "go on"); return err },
		"complete":  func() error { _, err := s.Complete(ctx, Session{id}, "done"); return err },
	} {
		assert.ErrorIs(t, call(), ctx.Err(), method)
	}
	assert.Empty(t, r.told())
	leave()
	assert.Empty(t, s.gates.held)
	_, err = s.Stop(t.Context(), Host{}, id)
	assert.NoError(t, err)
}
