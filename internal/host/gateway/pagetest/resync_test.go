package pagetest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/gateway"
)

// After events were missed the page asks for the state anew, and what is gone leaves it.
func TestTasksAfterMissedEvents(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	w.shows("#tasks", "Mend the build")
	s.mu.Lock()
	s.state.Tasks = []task{{ID: "t2", Title: "Write the docs", State: "idle"}}
	s.mu.Unlock()
	s.tell("task.changed", map[string]any{"task": task{ID: "t3", Title: "Read the log", State: "idle"}})
	w.shows("#tasks > li:nth-child(2)", "Read the log")
	assert.Contains(t, w.text("#tasks"), "Mend the build", "without that word it stays as it is")
	assert.NoError(t, s.gateway.Publish(gateway.Event{Name: "resync", Payload: struct{}{}, MaySee: func(dispatch.Person, string) bool { return true }}))
	w.until(`document.querySelectorAll("#tasks > li").length === 1`)
	w.shows("#tasks > li", "Write the docs")
}

// Pages that are told so at once do not ask at once, and one that is told twice asks once.
func TestPagesAskForTheStateOneAfterTheOther(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	w.run(`window.delays = []; window.later = setTimeout; window.setTimeout = (f, ms) => { delays.push(ms); return later(f, ms); }; Math.random = () => 0.3;`)
	s.mu.Lock()
	s.state.Tasks = []task{{ID: "t2", Title: "Write the docs", State: "idle"}}
	s.mu.Unlock()
	for range 2 {
		assert.NoError(t, s.gateway.Publish(gateway.Event{Name: "resync", Payload: struct{}{}, MaySee: func(dispatch.Person, string) bool { return true }}))
	}
	w.shows("#tasks > li", "Write the docs")
	assert.Equal(t, 1, eval[int](w, `delays.filter((ms) => ms === 600).length`))
}
