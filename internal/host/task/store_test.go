package task

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kandev/assent/internal/host/state"
	"github.com/kandev/assent/internal/testlog"
)

// familyAtWork is a family whose tasks are at different states.
func familyAtWork(t *testing.T, s *Service) map[string]ID {
	t.Helper()
	ids := family(t, s)
	for name, report := range map[string]Report{
		"parent": {State: Running, Instance: "1", Session: "s1"}, "me": {State: Waiting, Instance: "2", Session: "s2"},
		"child": {State: Idle, Session: "s3"}, "grandchild": {State: Failed},
	} {
		_, err := s.Report(t.Context(), Host{}, ids[name], report)
		require.NoError(t, err)
	}
	_, err := s.Stop(t.Context(), Host{}, ids["sibling"])
	require.NoError(t, err)
	return ids
}

func TestTasksSurviveARestart(t *testing.T) {
	dir, r := t.TempDir(), &runner{}
	store := openState(t, dir)
	s := openService(t, store, r)
	ids := familyAtWork(t, s)
	question, came := ask(t.Context(), t, s, ids["parent"])
	before, err := s.List(Host{})
	require.NoError(t, err)
	s.Close()
	require.NoError(t, store.Close())
	require.Equal(t, ErrGone, (<-came).err)
	r.told()

	s = openService(t, openState(t, dir), r)
	after, err := s.List(Host{})
	require.NoError(t, err)
	require.Len(t, after, len(before))
	resume := []string{}
	for i, task := range after {
		if task.Resume {
			resume = append(resume, task.Title)
			assert.Equal(t, Running, task.State, "what it waited for is gone")
			task.Resume, task.State = false, before[i].State
		}
		assert.Equal(t, before[i], task)
	}
	assert.Equal(t, []string{"parent", "me"}, resume)
	assert.Empty(t, r.told(), "resuming is for the host")
	list, err := s.Questions(Host{})
	require.NoError(t, err)
	assert.Empty(t, list)
	assert.Equal(t, ErrNotFound, s.Answer(person("answer"), question, "red"))
}

// What the host reports of a task that was cut off is told, and it is to be resumed no more.
func TestReportsAfterARestart(t *testing.T) {
	dir := t.TempDir()
	store := openState(t, dir)
	s := openService(t, store, &runner{})
	ids := familyAtWork(t, s)
	s.Close()
	require.NoError(t, store.Close())
	s = openService(t, openState(t, dir), &runner{})

	events, stop := s.Watch(10)
	got, err := s.Report(t.Context(), Host{}, ids["parent"], Report{State: Running, Instance: "1"})
	require.NoError(t, err)
	assert.False(t, got.Resume)
	got, err = s.Report(t.Context(), Host{}, ids["me"], Report{State: Idle})
	require.NoError(t, err)
	assert.Equal(t, []any{false, Idle, "s2"}, []any{got.Resume, got.State, got.Session})
	stop()
	last := map[string]Task{}
	for ev := range events {
		last[ev.Task.Title] = ev.Task
	}
	assert.Equal(t, map[string]Task{"parent": get(t, s, ids["parent"]), "me": got}, last)
}

// A resumable task that is stopped is not to be resumed.
func TestStopBeforeResume(t *testing.T) {
	dir, r := t.TempDir(), &runner{}
	store := openState(t, dir)
	s := openService(t, store, r)
	id := make1(t, s, "task", "")
	_, err := s.Report(t.Context(), Host{}, id, Report{State: Running})
	require.NoError(t, err)
	s.Close()
	require.NoError(t, store.Close())
	s = openService(t, openState(t, dir), r)
	require.True(t, get(t, s, id).Resume)
	_, err = s.Stop(t.Context(), person("operate"), id)
	require.NoError(t, err)
	assert.False(t, get(t, s, id).Resume)
	assert.Equal(t, Stopped, get(t, s, id).State)
}

// What was stored before its parent knew of it was promised to nobody.
func TestUnbornTasksAreDropped(t *testing.T) {
	dir := t.TempDir()
	store := openState(t, dir)
	s := openService(t, store, &runner{})
	parent := make1(t, s, "parent", "")
	kept := make1(t, s, "kept", parent)
	text, err := node{task: Task{ID: "task-unborn", Parent: parent, Title: "unborn", State: Created}}.encode()
	require.NoError(t, err)
	require.NoError(t, s.mirror.Create(t.Context(), "task-unborn", text))
	require.Len(t, s.tasks, 3)
	s.Close()
	require.NoError(t, store.Close())
	s = openService(t, openState(t, dir), &runner{})
	assert.Len(t, s.tasks, 2)
	assert.Equal(t, []ID{kept}, s.tasks[parent].children)
}

// What is damaged is left out, and harms nobody.
func TestDamagedTasks(t *testing.T) {
	store := openState(t, t.TempDir())
	bucket, err := store.Bucket(t.Context(), "tasks")
	require.NoError(t, err)
	for key, text := range map[string]string{
		"junk":  "sesame",
		"other": `{"task":{"id":"another","title":"sesame","state":"idle"}}`,
		"odd":   `{"task":{"id":"odd","title":"sesame","state":"asleep"}}`,
		"self":  `{"task":{"id":"self","parent":"self","title":"sesame","state":"idle"}}`,
		"twice": `{"task":{"id":"twice","id":"twice","title":"sesame","state":"idle"}}`,
		"ring1": `{"task":{"id":"ring1","parent":"ring2","title":"ring1","state":"idle"},"children":["ring2"]}`,
		"ring2": `{"task":{"id":"ring2","parent":"ring1","title":"ring2","state":"idle"},"children":["ring1","gone"]}`,
		"good":  `{"task":{"id":"good","title":"good","state":"idle"}}`,
	} {
		_, err := bucket.Create(t.Context(), key, []byte(text))
		require.NoError(t, err)
	}
	var log testlog.Buffer
	s, err := New(t.Context(), store, Options{Runner: &runner{}, Logger: log.Logger()})
	require.NoError(t, err)
	defer s.Close()
	list, err := s.List(person("view"))
	require.NoError(t, err)
	assert.Equal(t, []string{"good", "ring1", "ring2"}, titles(list))
	assert.Equal(t, 5, log.Count("a stored task cannot be read"))
	assert.Zero(t, log.Count("sesame"))

	_, err = s.Create(t.Context(), Host{}, Spec{Title: "new", Parent: "ring1"})
	assert.ErrorIs(t, err, ErrFull, "it has no end")
	_, err = s.Stop(t.Context(), Host{}, "ring1")
	assert.NoError(t, err)
	assert.Equal(t, Stopped, get(t, s, "ring2").State)
	assert.Equal(t, Idle, get(t, s, "good").State)
}

// The stored form has these members and no other. Who adds one says why it is no
// secret and no mark of trust. The note is what people who see the task are shown, and
// decides nothing.
func TestWhatIsStored(t *testing.T) {
	full := node{task: Task{"id", "parent", "title", Idle, "agent", "directory", time.Now(), time.Now(), "summary", "instance", "session", "note", true}, children: []ID{"child"}}
	text, err := full.encode()
	require.NoError(t, err)
	var top map[string]jsontext.Value
	require.NoError(t, json.Unmarshal(text, &top))
	assert.ElementsMatch(t, []string{"task", "children"}, keys(top))
	var task map[string]jsontext.Value
	require.NoError(t, json.Unmarshal(top["task"], &task))
	assert.ElementsMatch(t, []string{"id", "parent", "title", "state", "agent", "directory", "created", "updated", "summary", "instance", "session", "note"}, keys(task))
}

func keys(m map[string]jsontext.Value) (list []string) {
	for key := range m {
		list = append(list, key)
	}
	return list
}

// A mark in a store is ignored, in any spelling, and is gone with the next write.
func TestMarkInTheStoreIsIgnored(t *testing.T) {
	store := openState(t, t.TempDir())
	bucket, err := store.Bucket(t.Context(), "tasks")
	require.NoError(t, err)
	_, err = bucket.Create(t.Context(), "task-1", []byte(`{"InjectedKandevMCP":true,"task":{"injectedkandevmcp":true,"injected_kandev_mcp":true,"InjectedKandevMCP":true,"resume":true,"id":"task-1","title":"t","state":"idle"}}`))
	require.NoError(t, err)
	s := openService(t, store, &runner{})
	assert.Equal(t, Task{ID: "task-1", Title: "t", State: Idle}, get(t, s, "task-1"))
	_, err = s.Report(t.Context(), Host{}, "task-1", Report{State: Running})
	require.NoError(t, err)
	e, err := bucket.Get(t.Context(), "task-1")
	require.NoError(t, err)
	assert.NotContains(t, strings.ToLower(string(e.Value)), "kandev")
	assert.NotContains(t, string(e.Value), "resume")
}

// Prompts, messages, questions and answers are in no file and no log.
func TestWhatIsSaidIsNotStored(t *testing.T) {
	dir := t.TempDir()
	var log testlog.Buffer
	store, err := state.Open(t.Context(), state.Options{Dir: dir, Logger: log.Logger()})
	require.NoError(t, err)
	r := &runner{}
	s, err := New(t.Context(), store, Options{Runner: r, Logger: log.Logger()})
	require.NoError(t, err)
	made, err := s.Create(t.Context(), Host{}, Spec{Title: "a title", Prompt: "sesame prompt"})
	require.NoError(t, err)
	_, err = s.Message(t.Context(), Host{}, made.ID, "sesame message")
	require.NoError(t, err)
	o, err := s.openQuestion(made.ID, "sesame question", []string{"sesame option"})
	require.NoError(t, err)
	require.NoError(t, s.Answer(person("answer"), o.ID, "sesame answer"))
	r.broken = errBroken
	_, err = s.Message(t.Context(), Host{}, made.ID, "sesame again")
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "sesame")
	s.Close()
	require.NoError(t, store.Close())
	var files strings.Builder
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files.Write(text)
		return err
	}))
	assert.Contains(t, files.String(), "a title", "the files are those of the tasks")
	assert.NotContains(t, files.String(), "sesame")
	assert.Zero(t, log.Count("sesame")+log.Count("a title"))
}

func TestNeedsARunner(t *testing.T) {
	_, err := New(t.Context(), openState(t, t.TempDir()), Options{})
	assert.ErrorContains(t, err, "there is no runner")
}

func TestClosedStore(t *testing.T) {
	store := openState(t, t.TempDir())
	s := openService(t, store, &runner{})
	id := make1(t, s, "task", "")
	require.NoError(t, store.Close())
	_, err := s.Create(t.Context(), Host{}, Spec{Title: "new"})
	assert.ErrorIs(t, err, state.ErrUnavailable)
	_, err = s.Stop(t.Context(), Host{}, id)
	assert.ErrorIs(t, err, state.ErrUnavailable)
	assert.Equal(t, Created, get(t, s, id).State, "what was not stored did not happen")
	_, err = New(context.Background(), store, Options{Runner: &runner{}})
	assert.ErrorIs(t, err, state.ErrUnavailable)
}

func TestRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		n := node{task: Task{
			ID: ID(rapid.StringN(1, 20, -1).Draw(t, "id")), Title: text.Draw(t, "title"),
			State: rapid.SampledFrom([]State{Created, Running, Waiting, Idle, Stopped, Completed, Failed}).Draw(t, "state"),
			Agent: text.Draw(t, "agent"), Directory: text.Draw(t, "directory"), Summary: text.Draw(t, "summary"),
			Instance: text.Draw(t, "instance"), Session: text.Draw(t, "session"), Created: now(), Updated: now(),
		}}
		for _, child := range rapid.SliceOfN(text, 0, 3).Draw(t, "children") {
			n.children = append(n.children, ID(child))
		}
		stored, err := n.encode()
		require.NoError(t, err)
		got, err := decode(string(n.task.ID), stored)
		require.NoError(t, err)
		assert.True(t, n.equal(got), "%s", stored)
		_, err = decode("x"+string(n.task.ID), stored)
		assert.Error(t, err)
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"task":{"id":"k","parent":"p","title":"t","state":"idle","created":"2026-01-02T03:04:05Z"},"children":["c"]}`))
	f.Add([]byte(`{"task":{"id":"k","state":"asleep"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := decode("k", text)
		if err != nil {
			return
		}
		if n.task.ID != "k" || !n.task.State.known() || n.task.Resume || n.task.Parent == "k" {
			t.Fatalf("%s was read", text)
		}
		again, err := n.encode()
		if err != nil {
			t.Skip("a time beyond what JSON can say")
		}
		same, err := decode("k", again)
		if err != nil || same.task.Title != n.task.Title || !slices.Equal(same.children, n.children) {
			t.Fatalf("%s is read as another task than %s", again, text)
		}
	})
}
