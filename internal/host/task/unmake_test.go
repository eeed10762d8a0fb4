package task

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/state"
)

// A task whose storing was given up is not there, whether it was stored by then or not:
// its parent would not know of it. One that was stored is there.
func TestATaskWhoseStoringWasGivenUp(t *testing.T) {
	for _, stored := range []bool{true, false} {
		store := openState(t, t.TempDir())
		s := openService(t, store, &runner{})
		parent := make1(t, s, "parent", "")
		text, err := node{task: Task{ID: "task-new", Parent: parent, Title: "new", State: Created}}.encode()
		require.NoError(t, err)
		bucket, err := store.Bucket(t.Context(), "tasks")
		require.NoError(t, err)
		if stored {
			_, err = bucket.Create(t.Context(), "task-new", text)
			require.NoError(t, err)
		}
		require.NoError(t, s.unmake(t.Context(), "task-new", text))
		_, err = bucket.Get(t.Context(), "task-new")
		assert.ErrorIs(t, err, state.ErrNotFound)
		_, err = s.Get(Host{}, "task-new")
		assert.ErrorIs(t, err, ErrNotFound)
	}
}

// Create does so when its caller is gone.
func TestACallerThatIsGoneMakesNoTask(t *testing.T) {
	s, _ := newService(t)
	parent := make1(t, s, "parent", "")
	ended, _ := contextThatEnds(t)
	events, stop := s.Watch(10)
	_, err := s.Create(ended, Host{}, Spec{Title: "given up", Parent: parent})
	assert.ErrorIs(t, err, state.ErrUnavailable)
	kept := make1(t, s, "kept", parent)
	stop()
	var told []string
	for e := range events {
		told = append(told, map[EventKind]string{Changed: "changed ", Forgotten: "forgotten "}[e.Kind]+e.Task.Title)
	}
	assert.Equal(t, []string{"changed given up", "forgotten given up", "changed kept", "changed parent"}, told)
	assert.Equal(t, []ID{kept}, s.tasks[parent].children)
	assert.Len(t, s.tasks, 2)
}
