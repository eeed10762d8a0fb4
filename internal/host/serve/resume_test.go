package serve

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/task"
)

// mute is an agent that never answers.
func mute() int {
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// A task that is stopped while it waits to be taken up after a restart stays without an
// agent; one that nobody stops is taken up.
func TestATaskThatIsStoppedBeforeItIsTakenUp(t *testing.T) {
	with := func(slow string) func(*Config) {
		return func(c *Config) { c.Agents["slow"], c.Agents["keeper"] = agentOf(t, slow), agentOf(t, "keeper") }
	}
	first := begin(t, with("keeper"))
	secret := first.token("desk", all)
	p := first.dial(secret)
	p.watch()
	start := func(agent string) (made wireTask) {
		p.ask("task.start", fmt.Sprintf(`{"title":"made","prompt":"offer","agent":%q}`, agent), &made)
		p.opens(made.ID)
		p.settles(made.ID, task.Waiting)
		return made
	}
	var slow []wireTask
	for range resumeAtOnce {
		slow = append(slow, start("slow"))
	}
	stopped, other := start("keeper"), start("keeper")
	first.stop()

	second := beginIn(t, first.dir, with("mute"))
	p = second.dial(secret)
	p.watch()
	stop := func(id task.ID) { p.ask("task.stop", fmt.Sprintf(`{"task":%q}`, id), nil) }
	require.Eventually(t, func() bool { return len(second.runner.alive()) == resumeAtOnce }, patience, tick)
	require.Nil(t, second.runner.working(stopped.ID), "it waits")
	stop(stopped.ID)
	for _, each := range slow {
		stop(each.ID)
	}
	require.Eventually(t, func() bool { return strings.Contains(second.runner.note(other.ID), "taken up again") }, patience, tick)
	p.settles(other.ID, task.Idle)
	assert.Nil(t, second.runner.working(stopped.ID))
	assert.Equal(t, task.Stopped, second.stateOf(string(stopped.ID)))
	assert.Empty(t, second.runner.note(stopped.ID))
	second.runner.mu.Lock()
	defer second.runner.mu.Unlock()
	for _, id := range second.runner.owners {
		assert.NotEqual(t, stopped.ID, id, "it had no agent")
	}
}

// An agent that does not answer keeps those that come after it waiting for a while; one
// that is ready, or has ended, does not.
func TestHowLongAnAgentKeepsOthersWaiting(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(*worker)
		want time.Duration
	}{
		"no answer": {func(*worker) {}, resumeWithin},
		"ready":     {func(w *worker) { close(w.up) }, 0},
		"ended":     {func(w *worker) { close(w.done) }, 0},
		"late":      {func(w *worker) { time.Sleep(resumeWithin / 2); close(w.up) }, resumeWithin / 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, began := newWorker(nil, task.Task{}, Agent{}, "", noteResumed), time.Now()
				defer w.end()
				go test.end(w)
				w.settled(resumeWithin)
				assert.Equal(t, test.want, time.Since(began))
			})
		})
	}
}

// What was prompted before it is taken up keeps that agent, and is not said to be idle.
func TestATaskThatIsPromptedBeforeItIsTakenUp(t *testing.T) {
	r := begin(t, nil)
	p := r.dial(r.token("desk", all))
	p.watch()
	made := p.start("made", "shell")
	p.opens(made.ID)
	p.settles(made.ID, task.Waiting)
	w := r.runner.working(made.ID)
	stored, err := r.tasks.Get(task.Host{}, made.ID)
	require.NoError(t, err)
	assert.Same(t, w, r.revive(stored))
	assert.Equal(t, task.Waiting, r.stateOf(string(made.ID)))

	never := p.start("never", "")
	stored, err = r.tasks.Get(task.Host{}, never.ID)
	require.NoError(t, err)
	assert.Nil(t, r.revive(stored))
	assert.Equal(t, noteNever, r.runner.note(never.ID))
	assert.Equal(t, task.Idle, r.stateOf(string(never.ID)))
}

// Whatever ended a task, nothing is approved for its agent from then on.
func TestAnAgentOfATaskThatHasEndedIsOver(t *testing.T) {
	for name, end := range map[string]func(*rig, task.ID){
		"there": nil,
		"failed": func(r *rig, id task.ID) {
			_, err := r.tasks.Report(r.t.Context(), task.Host{}, id, task.Report{State: task.Failed})
			require.NoError(r.t, err)
		},
		"forgotten": func(r *rig, id task.ID) {
			r.forget(id)
			require.Eventually(r.t, func() bool { return !r.reached(task.Host{})(id) }, patience, tick)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, nil)
			p := r.dial(r.token("desk", all))
			p.watch()
			made := p.start("made", "shell")
			p.opens(made.ID)
			p.settles(made.ID, task.Waiting)
			w := r.runner.working(made.ID)
			if end != nil {
				end(r, made.ID)
			}
			assert.Equal(t, end != nil, w.over())
		})
	}
}
