package serve

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/task"
)

// Notes that were read, or whose task goes on, take no room from those that are there: of
// these the oldest goes first.
func TestNotesThatAreReadTakeNoRoom(t *testing.T) {
	r := begin(t, withKeeper(t)).runner
	for n := range maxNotes {
		id := task.ID(fmt.Sprint("read", n))
		r.remark(id, "read")
		r.unremark(id)
	}
	r.remark("goes on", "begins")
	_, begun, err := r.worker(task.Task{ID: "goes on", Agent: "keeper", Directory: t.TempDir()}, "hello", "")
	require.NoError(t, err)
	assert.True(t, begun)
	assert.Empty(t, r.noted)

	r.remark("twice", "old")
	r.unremark("twice")
	for n := range maxNotes - 1 {
		r.remark(task.ID(fmt.Sprint(n)), "fresh")
	}
	r.remark("twice", "new")
	assert.Len(t, r.notes, maxNotes)
	assert.Equal(t, "new", r.note("twice"))
	assert.Equal(t, "fresh", r.note("0"))

	r.remark("one more", "new")
	assert.Empty(t, r.note("0"), "the oldest")
	assert.Equal(t, "fresh", r.note("1"))
	assert.Equal(t, "new", r.note("twice"))
	assert.Len(t, r.notes, maxNotes)
	assert.Len(t, r.noted, maxNotes)
}
