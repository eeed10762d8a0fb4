package task

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/state"
)

// An agent that completes its task and goes on is stopped and interrupted like any
// other one, and the task stays completed.
func TestAnAgentThatGoesOnAfterCompletion(t *testing.T) {
	s, r := newService(t)
	id := make1(t, s, "task", "")
	_, err := s.Message(t.Context(), Host{}, id, "begin")
	require.NoError(t, err)
	_, err = s.Complete(t.Context(), Session{id}, "done")
	require.NoError(t, err)
	r.told()

	outcome, err := s.Interrupt(t.Context(), person("operate"), id)
	require.NoError(t, err)
	assert.Equal(t, OutcomeStopped, outcome, "a turn was under way")
	assert.Equal(t, []string{"interrupt task"}, r.told())
	_, err = s.Stop(t.Context(), person("operate", "task-unknown"), id)
	assert.ErrorIs(t, err, ErrNotFound, "of somebody else it is refused")
	assert.Empty(t, r.told())
	for _, want := range []Outcome{OutcomeStopped, OutcomeNotRunning} {
		outcome, err = s.Stop(t.Context(), person("operate"), id)
		require.NoError(t, err)
		assert.Equal(t, want, outcome, "its agent was there at first")
		assert.Equal(t, []string{"stop task"}, r.told())
		assert.Equal(t, Completed, get(t, s, id).State)
	}
}

// A stop says that it ended something also when that was below a task without an agent.
func TestStopOfAnAgentBelow(t *testing.T) {
	s, r := newService(t)
	parent := make1(t, s, "parent", "")
	child := make1(t, s, "child", parent)
	_, err := s.Message(t.Context(), Host{}, child, "begin")
	require.NoError(t, err)
	_, err = s.Complete(t.Context(), Session{child}, "done")
	require.NoError(t, err)
	_, err = s.Complete(t.Context(), Session{parent}, "done")
	require.NoError(t, err)
	for _, want := range []Outcome{OutcomeStopped, OutcomeNotRunning} {
		r.told()
		outcome, err := s.Stop(t.Context(), person("operate"), parent)
		require.NoError(t, err)
		assert.Equal(t, want, outcome)
		assert.ElementsMatch(t, []string{"stop parent", "stop child"}, r.told())
	}
}

// When nothing can be stored every agent ends all the same, and the caller is told why
// the tasks stay as they were.
func TestStopWithoutAStore(t *testing.T) {
	for name, works := range map[string]bool{"that is gone": false, "that works": true} {
		t.Run(name, func(t *testing.T) {
			r := &runner{}
			store := openState(t, t.TempDir())
			s := openService(t, store, r)
			ids := family(t, s)
			if !works {
				require.NoError(t, store.Close())
			}
			outcome, err := s.Stop(t.Context(), Host{}, ids["me"])
			assert.ElementsMatch(t, []string{"stop me", "stop child", "stop grandchild"}, r.told())
			if works {
				require.NoError(t, err)
				assert.Equal(t, OutcomeStopped, outcome)
				return
			}
			assert.ErrorIs(t, err, state.ErrUnavailable)
			assert.Equal(t, OutcomeStopped, outcome, "who tried it is to be known")
		})
	}
}

// A message of another task says whose it is, whether the agent has a session or not;
// the prompt that a task was created with is the creator's own.
func TestMessagesSayWhoseTheyAre(t *testing.T) {
	s, r := newService(t)
	parent := make1(t, s, "parent", "")
	child, err := s.Create(t.Context(), Session{parent}, Spec{Title: "child", Prompt: "begin"})
	require.NoError(t, err)
	later := make1(t, s, "later", parent)
	for who, to := range map[Actor]ID{Session{parent}: later, Session{child.ID}: parent, Host{}: child.ID} {
		_, err := s.Message(t.Context(), who, to, "news")
		require.NoError(t, err)
	}
	assert.ElementsMatch(t, []string{
		"begin", "news",
		"Message from task " + string(parent) + ":\nnews",
		"Message from task " + string(child.ID) + ":\nnews",
	}, r.texts)
}
