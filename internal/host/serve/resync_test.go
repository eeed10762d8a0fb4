package serve

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/task"
)

// After events were missed everybody who watches is told so, whatever they may see; the
// state that they ask for then is without what is gone. Without such a loss nobody is told.
func TestAForgottenTaskThatNobodyWasToldOf(t *testing.T) {
	r := begin(t, nil)
	desk := r.dial(r.token("desk", all))
	desk.watch()
	gone, stays := desk.start("gone", ""), desk.start("stays", "")
	guest := r.dial(r.token("guest", all, string(gone.ID)))
	guest.ask("state.watch", fmt.Sprintf(`{"task":%q}`, gone.ID), nil)
	until(desk, "task.changed", func(e taskEvent) bool { return e.Task.ID == stays.ID })
	assert.NotContains(t, desk.heard(), "resync")

	events := make(chan task.Event, 1)
	events <- task.Event{Kind: task.Lagged}
	close(events)
	r.forget(gone.ID)
	require.Eventually(t, func() bool { return !r.reached(task.Host{})(gone.ID) }, patience, time.Millisecond)
	r.follow(events)
	for _, p := range []*peer{desk, guest} {
		until(p, "resync", func(e map[string]any) bool { return len(e) == 0 })
	}
	seen := desk.watch().Tasks
	require.Len(t, seen, 1)
	assert.Equal(t, stays.ID, seen[0].ID)
	r.surfaces.mu.Lock()
	defer r.surfaces.mu.Unlock()
	assert.Empty(t, r.surfaces.limited)
}
