package task

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cutOff is a service after a restart, with a task that was running before it.
func cutOff(t *testing.T) (*Service, *runner, ID) {
	t.Helper()
	dir, r := t.TempDir(), &runner{}
	store := openState(t, dir)
	s := openService(t, store, r)
	id := make1(t, s, "task", "")
	_, err := s.Report(t.Context(), Host{}, id, Report{State: Running, Session: "s1"})
	require.NoError(t, err)
	s.Close()
	require.NoError(t, store.Close())
	return openService(t, openState(t, dir), r), r, id
}

// The host takes up what was cut off, as it is by then, and nothing else.
func TestWhatIsResumed(t *testing.T) {
	for name, test := range map[string]struct {
		who    Actor
		before func(*Service, ID) error
		taken  bool
		want   error
	}{
		"cut off": {who: Host{}, taken: true},
		"prompted, and not yet reported": {who: Host{}, taken: true, before: func(s *Service, id ID) error {
			_, err := s.Message(context.Background(), Host{}, id, "go on")
			return err
		}},
		"stopped": {who: Host{}, before: func(s *Service, id ID) error {
			_, err := s.Stop(context.Background(), Host{}, id)
			return err
		}},
		"reported": {who: Host{}, before: func(s *Service, id ID) error {
			_, err := s.Report(context.Background(), Host{}, id, Report{State: Running, Session: "s2"})
			return err
		}},
		"forgotten": {who: Host{}, before: func(s *Service, id ID) error {
			return s.forget(context.Background(), id)
		}, want: ErrNotFound},
		"by a person":  {who: person("all"), want: ErrForbidden},
		"by a session": {who: Session{"task"}, want: ErrForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, id := cutOff(t)
			if test.before != nil {
				require.NoError(t, test.before(s, id))
			}
			var got []Task
			assert.Equal(t, test.want, s.Resume(t.Context(), test.who, id, func(t Task) { got = append(got, t) }))
			if !test.taken {
				assert.Empty(t, got)
				return
			}
			assert.Equal(t, []Task{get(t, s, id)}, got)
			assert.Equal(t, "s1", got[0].Session)
		})
	}
}

// A stop comes before a task is taken up or after it, never in between.
func TestAStopWhileATaskIsResumed(t *testing.T) {
	s, r, id := cutOff(t)
	stopped := make(chan error)
	require.NoError(t, s.Resume(t.Context(), Host{}, id, func(task Task) {
		go func() { _, err := s.Stop(context.Background(), Host{}, id); stopped <- err }()
		require.Eventually(t, func() bool { return s.waiting(id) == 2 }, time.Minute, time.Millisecond)
		assert.Equal(t, Running, get(t, s, id).State)
		assert.Empty(t, r.told(), "it waits")
	}))
	require.NoError(t, <-stopped)
	assert.Equal(t, []string{"stop task"}, r.told())

	s, r, id = cutOff(t)
	resumed := make(chan error)
	r.during = func(call string, _ Task) {
		go func() {
			resumed <- s.Resume(context.Background(), Host{}, id, func(Task) { t.Error("a stopped task is taken up") })
		}()
		require.Eventually(t, func() bool { return s.waiting(id) == 2 }, time.Minute, time.Millisecond)
	}
	_, err := s.Stop(t.Context(), Host{}, id)
	require.NoError(t, err)
	require.NoError(t, <-resumed)
}

// waiting is how many have the gate of a task or wait for it.
func (s *Service) waiting(id ID) int {
	s.gates.mu.Lock()
	defer s.gates.mu.Unlock()
	if g := s.gates.held[id]; g != nil {
		return g.users
	}
	return 0
}
