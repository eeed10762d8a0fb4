package endpoint

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTaskListIsBounded(t *testing.T) {
	rows := []struct{ title, description, want string }{
		{"", "", "title is empty: say in one line what to do"},
		{" \t\n", "", "title is empty"},
		{strings.Repeat("é", 201), "", "title has 201 characters, at most 200 are allowed: shorten it"},
		{"a\nb", "", "title has more than one line"},
		{"a", strings.Repeat("é", 2001), "description has 2001 characters, at most 2000 are allowed"},
	}
	l := NewTaskList()
	for _, r := range rows {
		_, err := l.Create(r.title, r.description)
		require.ErrorContains(t, err, r.want)
	}
	assert.Empty(t, l.Tasks())
	first, err := l.Create(" "+strings.Repeat("é", 200)+"\n", strings.Repeat("é", 2000))
	require.NoError(t, err)
	assert.Equal(t, Task{ID: "task-1", Title: strings.Repeat("é", 200), Description: strings.Repeat("é", 2000)}, first)
	for range maxTasks - 1 {
		_, err := l.Create("x", "")
		require.NoError(t, err)
	}
	_, err = l.Create("x", "")
	require.ErrorContains(t, err, "the list is full with 200 tasks")
	assert.Len(t, l.Tasks(), maxTasks)
}

func TestTaskIDsAreUnique(t *testing.T) {
	l := NewTaskList()
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() { _, _ = l.Create("x", "") })
	}
	group.Wait()
	ids := map[string]bool{}
	for _, task := range l.Tasks() {
		ids[task.ID] = true
	}
	assert.Len(t, ids, 100)
}

func TestToolErrorsReachTheModel(t *testing.T) {
	b := open(t, Options{})
	cs := b.connect(t, b.session(t), "127.0.0.1", "/mcp", newest)
	for args, want := range map[string]string{
		`{"title":" "}`:             "title is empty: say in one line what to do",
		`{}`:                        `validating "arguments"`,
		`{"title":"a","id":"x"}`:    `validating "arguments"`,
		`{"title":["a"]}`:           `validating "arguments"`,
		`{"Title":"a"}`:             `validating "arguments"`,
		`{"title":"a","x":{"y":0}}`: `validating "arguments"`,
	} {
		r, err := call(t.Context(), cs, "create_task_kandev", rawJSON(args), nil)
		require.NoError(t, err)
		assert.True(t, r.IsError, args)
		assert.Contains(t, text(t, r), want, args)
	}
	r, err := call(t.Context(), cs, "list_tasks_kandev", nil, nil)
	require.NoError(t, err)
	assert.JSONEq(t, `{"tasks":[]}`, text(t, r))
}

type rawJSON string

func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }
