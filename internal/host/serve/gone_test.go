package serve

import (
	"fmt"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/task"
)

// forget takes a task out of the store, as one does that makes room.
func (r *rig) forget(id task.ID) {
	r.t.Helper()
	bucket, err := r.state.Bucket(r.t.Context(), "tasks")
	require.NoError(r.t, err)
	entry, err := bucket.Get(r.t.Context(), string(id))
	require.NoError(r.t, err)
	require.NoError(r.t, bucket.Delete(r.t.Context(), string(id), entry.Revision))
}

// gone is the event about a task that is forgotten.
type gone struct {
	Task task.ID `json:"task"`
}

// A task that is forgotten leaves the page of those who saw it.
func TestAForgottenTask(t *testing.T) {
	r := begin(t, nil)
	desk := r.dial(r.token("desk", all))
	desk.watch()
	mine, theirs := desk.start("mine", `plan "x"`), desk.start("theirs", "")
	desk.settles(mine.ID, task.Idle)
	desk.ask("task.stop", fmt.Sprintf(`{"task":%q}`, mine.ID), nil)
	r.acts.mu.Lock()
	assert.Contains(t, r.acts.numbers, mine.ID)
	r.acts.mu.Unlock()
	guest, other := r.dial(r.token("guest", all, string(mine.ID))), r.dial(r.token("other", all, string(theirs.ID)))
	guest.watch()
	other.watch()

	for _, id := range []task.ID{mine.ID, theirs.ID} {
		r.forget(id)
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
	r.acts.mu.Lock()
	defer r.acts.mu.Unlock()
	assert.NotContains(t, r.acts.numbers, mine.ID)
}

// What an agent says that outlives its forgotten task is kept no longer than the agent
// runs; that of a task that is there is kept.
func TestWhatIsSaidAfterATaskIsForgotten(t *testing.T) {
	for name, forgotten := range map[string]bool{"forgotten": true, "there": false} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, nil)
			p := r.dial(r.token("desk", all))
			p.watch()
			made := p.start("made", `plan "x"`)
			p.settles(made.ID, task.Idle)
			w := r.runner.working(made.ID)
			if forgotten {
				r.forget(made.ID)
				until(p, "task.gone", func(e gone) bool { return e.Task == made.ID })
			}
			r.say(made.ID, fromAgent, "late")
			w.end()
			<-w.done
			r.spoken.mu.Lock()
			defer r.spoken.mu.Unlock()
			if forgotten {
				assert.Empty(t, r.spoken.tasks)
			} else {
				assert.Len(t, r.spoken.tasks, 1)
			}
		})
	}
}

// One that is forgotten while somebody begins to watch is told of to those who could see
// it, and to no others.
func TestATaskForgottenMeanwhile(t *testing.T) {
	r := begin(t, nil)
	begun, goOn := make(chan struct{}), make(chan struct{})
	running := r.surfaces.running
	r.surfaces.running = func() map[pending.InstanceID]task.ID { // while a limited token begins to watch
		begun <- struct{}{}
		<-goOn
		return running()
	}
	desk := r.dial(r.token("desk", all))
	desk.watch()
	mine, theirs := desk.start("mine", ""), desk.start("theirs", "")
	guest, other := r.dial(r.token("guest", all, string(mine.ID))), r.dial(r.token("other", all, string(theirs.ID)))
	for _, p := range []*peer{guest, other} {
		require.NoError(t, p.conn.Write(p.ctx, websocket.MessageText, []byte(`{"id":"0","action":"state.watch"}`)))
		<-begun
	}
	r.forget(mine.ID)
	until(desk, "task.gone", func(e gone) bool { return e.Task == mine.ID })
	close(goOn)
	until(guest, "task.gone", func(e gone) bool { return e.Task == mine.ID })
	r.forget(theirs.ID)
	until(other, "task.gone", func(e gone) bool { return e.Task == theirs.ID })
	assert.Equal(t, []string{"task.gone"}, guest.heard())
	assert.Equal(t, []string{"task.gone"}, other.heard())
}
