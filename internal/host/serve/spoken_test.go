package serve

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kandev/assent/internal/host/task"
)

func everyTask(task.ID) bool { return true }

// What was said stays for those who connect later and see the task, each turn with what
// the agent was told; so does what was asked, and how it ended.
func TestWhatWasSaidStays(t *testing.T) {
	r := begin(t, nil)
	desk := r.dial(r.token("desk", all))
	desk.watch()
	mine, theirs := desk.start("mine", "shell"), desk.start("theirs", "")
	offer := desk.opens(mine.ID)
	desk.ask("permission.resolve", offer.resolve(`{"choice":"allow"}`), nil)
	desk.says(mine.ID, "Ran: the shell command.")
	desk.settles(mine.ID, task.Idle)
	desk.ask("task.prompt", fmt.Sprintf(`{"task":%q,"text":"plan \"\u001b[31mx\""}`, mine.ID), nil)
	desk.says(mine.ID, "list_tasks")
	type state struct {
		Texts  []textView `json:"texts"`
		Closed []struct {
			closedEvent
			Task   task.ID `json:"task"`
			Action struct {
				Command string `json:"command"`
			} `json:"action"`
		} `json:"closed"`
	}
	var got state
	r.dial(r.token("guest", all, string(mine.ID))).ask("state.watch", "{}", &got)
	require.Len(t, got.Closed, 1)
	assert.Equal(t, "answered", got.Closed[0].Outcome)
	assert.Equal(t, "desk", got.Closed[0].By.Name)
	assert.Equal(t, offer.Action.Command, got.Closed[0].Action.Command)
	assert.NotEmpty(t, offer.Action.Command)
	require.GreaterOrEqual(t, len(got.Texts), 4)
	assert.Equal(t, "shell", got.Texts[0].Text)
	assert.Equal(t, fromPrompt, got.Texts[0].From)
	said := ""
	for _, v := range got.Texts {
		assert.True(t, v.Begins)
		assert.Equal(t, mine.ID, v.Task)
		said += v.From + ": " + v.Text + "\n"
	}
	assert.Contains(t, said, "agent: Ran: the shell command.\nprompt: plan \"\\x1b[31mx\"\nagent: ")
	last := got.Texts[len(got.Texts)-1]
	until(desk, "task.text", func(v textView) bool { // what is told twice has one number
		return v.Number == last.Number && strings.HasSuffix(last.Text, v.Text)
	})
	var other state
	r.dial(r.token("other", all, string(theirs.ID))).ask("state.watch", "{}", &other)
	assert.Equal(t, []textView{}, other.Texts)
	assert.Empty(t, other.Closed)
}

// What is kept is the end of what was said, within its bounds, whoever says how much.
func TestTheEndOfWhatWasSaid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, whole, numbers := newSpoken(), map[task.ID]string{}, map[task.ID]uint64{}
		for range rapid.IntRange(1, 60).Draw(t, "pieces") {
			id := task.ID(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "task"))
			from := rapid.SampledFrom([]string{fromAgent, fromAgent, fromAgent, fromHost, fromPrompt}).Draw(t, "from")
			text := strings.Repeat(rapid.SampledFrom([]string{"x", "ä", "語", "😀"}).Draw(t, "rune"), rapid.SampledFrom([]int{1, 7, 3000, 20000}).Draw(t, "length"))
			if rapid.Bool().Draw(t, "pause") {
				s.pause(id)
			}
			s.add(id, from, text, func(v textView) {
				assert.Equal(t, numbers[id]+1, v.Number)
				numbers[id] = v.Number
			})
			whole[id] += text
		}
		kept := map[task.ID]string{}
		for _, v := range s.all(everyTask) {
			kept[v.Task] += v.Text
			assert.True(t, utf8.ValidString(v.Text))
		}
		total := 0
		for id, text := range whole {
			assert.LessOrEqual(t, s.tasks[id].size, maxSpokenOf)
			total += s.tasks[id].size
			end, cut := strings.CutPrefix(kept[id], "…")
			assert.NotEmpty(t, end)
			assert.True(t, strings.HasSuffix(text, end))
			assert.Equal(t, !cut, text == end)
		}
		assert.Equal(t, total, s.size)
	})
}

// All together are bounded, too: the quietest goes first, and its numbers go on.
func TestTheQuietestTaskIsKeptLeast(t *testing.T) {
	s := newSpoken()
	ignore := func(textView) {}
	s.add("quiet", fromAgent, "hello", ignore)
	many := maxSpoken/maxSpokenOf + 1
	for i := range many {
		s.add(task.ID(fmt.Sprint(i)), fromAgent, strings.Repeat("x", maxSpokenOf), ignore)
	}
	assert.LessOrEqual(t, s.size, maxSpoken)
	of := func(id task.ID) func(task.ID) bool { return func(other task.ID) bool { return other == id } }
	assert.Empty(t, s.all(of("quiet")))
	assert.NotEmpty(t, s.all(of(task.ID(fmt.Sprint(many-1)))))
	s.add("quiet", fromAgent, "again", func(v textView) {
		assert.Equal(t, textView{"quiet", "again", fromAgent, true, 2}, v)
	})
	s.forget(everyTask)
	assert.Empty(t, s.all(everyTask))
	assert.Zero(t, s.size)
	assert.Empty(t, s.order)
}

// A task that is forgotten from two sides at once is forgotten, and the others stay.
func TestWhatWasSaidIsForgottenFromTwoSides(t *testing.T) {
	s := newSpoken()
	for _, id := range []task.ID{"gone", "there"} {
		s.add(id, fromAgent, "hello", func(textView) {})
	}
	gone := func(id task.ID) bool { return id == "gone" }
	asked := 0
	s.forget(func(id task.ID) bool { // the other side comes while this one asks
		asked++
		s.forget(gone)
		return gone(id)
	})
	assert.Equal(t, 2, asked)
	assert.Equal(t, []textView{{"there", "hello", fromAgent, true, 1}}, s.all(everyTask))
	assert.Equal(t, []task.ID{"there"}, s.order)
	assert.Equal(t, s.tasks["there"].size, s.size)
	s.forget(everyTask)
	assert.Zero(t, s.size)
}

// The task that the host begins with is begun once, however often the server starts.
func TestTheHostsOwnTaskIsThereOnce(t *testing.T) {
	first := begin(t, nil)
	secret := first.token("desk", all)
	require.NoError(t, first.Begin(t.Context(), "Try assent", "shell"))
	p := first.dial(secret)
	id := p.watch().Tasks[0].ID
	p.opens(id)
	first.stop()
	second := beginIn(t, first.dir, nil)
	p = second.dial(secret)
	p.watch()
	require.NoError(t, second.Begin(t.Context(), "Try assent", "shell"))
	offer := p.opens(id)
	assert.Len(t, p.watch().Tasks, 1)
	p.ask("task.stop", fmt.Sprintf(`{"task":%q}`, id), nil)
	p.closes(offer)
	require.NoError(t, second.Begin(t.Context(), "Try assent", "shell"))
	assert.Len(t, p.watch().Tasks, 2, "one that has ended stays so")
}

// A task of another agent that is called like the host's own is told nothing.
func TestTheHostsOwnTaskIsOfItsOwnAgent(t *testing.T) {
	r := begin(t, withKeeper(t))
	p := r.dial(r.token("desk", all))
	p.watch()
	theirs := p.start("Try assent", "")
	require.NoError(t, r.Begin(t.Context(), "Try assent", "shell"))
	own := until(p, "task.changed", func(e taskEvent) bool { return e.Task.ID != theirs.ID }).Task
	p.opens(own.ID)
	assert.Equal(t, task.Created, r.stateOf(string(theirs.ID)))
	require.NoError(t, r.Begin(t.Context(), "Try assent", "shell"))
	assert.Len(t, p.watch().Tasks, 2, "its own is found")
}
