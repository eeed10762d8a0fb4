package serve

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/host/task"
)

// Of idle agents the one that has been so for longest makes room, and none that waits
// for an answer, whose offers would be cancelled for a task of somebody else.
func TestWhichAgentMakesRoom(t *testing.T) {
	r := &runner{workers: map[task.ID]*worker{}}
	idle := map[task.ID]*worker{}
	for n, id := range []task.ID{"asks", "old", "young"} {
		w := newWorker(r, task.Task{ID: id}, Agent{}, "", "taken up")
		defer w.end()
		w.session, w.idleAt = new(process.Session), w.idleAt.Add(time.Duration(n)*time.Second)
		r.workers[id], idle[id] = w, w
	}
	idle["asks"].waits(+1)
	assert.False(t, idle["asks"].retire())
	assert.True(t, r.makeRoom())
	assert.Equal(t, []bool{false, true, false}, []bool{idle["asks"].retiring, idle["old"].retiring, idle["young"].retiring})
	assert.True(t, r.makeRoom())
	assert.True(t, idle["young"].retiring)
	assert.False(t, r.makeRoom(), "the one that is left asks")

	idle["asks"].waits(-1)
	assert.True(t, r.makeRoom())
	assert.True(t, idle["asks"].retiring)
}
