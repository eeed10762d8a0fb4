package serve

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/internal/host/task"
)

// Numbers go on for each task, however much happens in others and whatever the list still
// holds; those of a forgotten task alone are forgotten.
func TestNumbersAreThoseOfATask(t *testing.T) {
	r := newRing[actedView](2)
	add := func(of task.ID) uint64 {
		v := actedView{Task: of}
		r.add(of, &v, &v.Number)
		return v.Number
	}
	assert.EqualValues(t, 1, add("mine"))
	for n := range 5 {
		assert.EqualValues(t, n+1, add("theirs"))
	}
	assert.EqualValues(t, 2, add("mine"))
	assert.Equal(t, []actedView{{Task: "theirs", Number: 5}, {Task: "mine", Number: 2}}, r.all(func(actedView) bool { return true }))
	assert.Equal(t, []actedView{{Task: "mine", Number: 2}}, r.all(func(v actedView) bool { return v.Task == "mine" }))
	r.forget(func(of task.ID) bool { return of == "theirs" })
	assert.Equal(t, map[task.ID]uint64{"mine": 2}, r.numbers)
}
