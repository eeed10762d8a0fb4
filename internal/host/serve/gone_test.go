package serve

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/task"
)

// A task that is forgotten leaves the page of those who saw it.
func TestAForgottenTask(t *testing.T) {
	r := begin(t, nil)
	desk := r.dial(r.token("desk", all))
	desk.watch()
	mine, theirs := desk.start("mine", `plan "x"`), desk.start("theirs", "")
	desk.settles(mine.ID, task.Idle)
	desk.ask("task.stop", fmt.Sprintf(`{"task":%q}`, mine.ID), nil)
	guest, other := r.dial(r.token("guest", all, string(mine.ID))), r.dial(r.token("other", all, string(theirs.ID)))
	guest.watch()
	other.watch()

	type gone struct {
		Task task.ID `json:"task"`
	}
	bucket, err := r.state.Bucket(t.Context(), "tasks")
	require.NoError(t, err)
	for _, id := range []task.ID{mine.ID, theirs.ID} {
		entry, err := bucket.Get(t.Context(), string(id))
		require.NoError(t, err)
		require.NoError(t, bucket.Delete(t.Context(), string(id), entry.Revision))
		until(desk, "task.gone", func(e gone) bool { return e.Task == id })
	}
	until(guest, "task.gone", func(e gone) bool { return e.Task == mine.ID })
	until(other, "task.gone", func(e gone) bool { return e.Task == theirs.ID })
	for _, p := range []*peer{guest, other} {
		names := p.heard()
		assert.Len(t, names, 1, "of another's task nothing is told: %v", names)
	}
	for _, seen := range desk.watch().Tasks {
		assert.NotContains(t, []task.ID{mine.ID, theirs.ID}, seen.ID, "only the child of one is left")
	}
	r.runner.mu.Lock()
	defer r.runner.mu.Unlock()
	assert.Empty(t, r.runner.owners)
}
