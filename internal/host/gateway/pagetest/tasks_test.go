package pagetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTasksAreATree(t *testing.T) {
	s := begin(t)
	s.state.Tasks = append([]task{{ID: "t3", Parent: "t1", Title: "Run the tests", State: "running"}}, s.state.Tasks...)
	w := s.enter("s3cret")
	w.until(`document.querySelectorAll("#tasks > li").length === 1`)
	w.shows("#tasks > li > ul:last-child > li", "‹Run the tests› works")
	w.run(`document.querySelector("#tasks details").open = true`)
	w.shows("#tasks", "Its process is there and calls itself ‹claude›")
	s.tell("instance.changed", map[string]any{"instance": instance{ID: "i1", Task: "t1", Agent: "claude-acp", AgentName: "claude", State: "running"}})
	w.shows("#tasks .troubles", "No automatic approval: everything is asked")
	s.tell("task.changed", map[string]any{"task": task{ID: "t3", Parent: "t1", Title: "Run the tests", State: "completed"}})
	w.shows("#tasks > li > ul:last-child > li", "completed")
	s.tell("task.changed", map[string]any{"task": task{ID: "t4", Parent: "t3", Title: "Read the log", State: "running"}})
	s.tell("task.gone", taskPayload{"none"})
	s.tell("task.gone", taskPayload{"t3"})
	w.shows("#tasks > li:nth-child(2)", "‹Read the log› works")
	assert.NotContains(t, w.text("#tasks"), "Run the tests")
	s.tell("task.gone", taskPayload{"t1"})
	s.tell("task.gone", taskPayload{"t4"})
	w.until(`document.querySelectorAll("#tasks li").length === 0 && !document.getElementById("no-tasks").hidden`)
}

func TestATaskIsStartedPromptedAndStopped(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	w.click("#start summary")
	w.click("#start-form [name=title]")
	w.keys("Write the docs\r")
	w.shows("#tasks > li:nth-child(2)", "Write the docs")
	w.click("#tasks > li:nth-child(1) summary")
	s.tell("task.text", map[string]any{"task": "t1", "text": "I begin", "from": "agent"})
	w.shows("#tasks .spoken", "I begin")
	w.rest("#tasks .controls")
	w.click("#tasks textarea")
	w.keys("go on")
	w.click("#tasks form button")
	w.until(`document.querySelector("#tasks textarea").value === ""`)
	w.rest("#tasks .controls")
	w.press("Cancel the turn")
	w.shows("#live", "The turn is cancelled")
	w.press("Stop …")
	w.shows("#tasks .certain", "This ends the task for good")
	w.press("Yes, stop it for good") // too early: a double click is no answer
	w.rest("#tasks .controls")
	assert.Equal(t, "No, let it go on", eval[string](w, "document.activeElement.textContent"))
	w.press("No, let it go on")
	w.until(`document.activeElement.textContent === "Stop …"`)
	w.rest("#tasks .controls")
	assert.Len(t, s.requests(), 2)
	w.press("Stop …")
	w.rest("#tasks .controls")
	w.press("Yes, stop it for good")
	w.shows("#live", "Stopped")
	assert.Equal(t, []string{"task.prompt t1 go on", "task.cancel t1", "task.stop t1"}, s.requests())
	w.press("Start a child")
	w.shows("#start-parent", "Child of ‹Mend the build›")
	w.until(`document.activeElement.name === "title"`)
}

// A task that has ended is stopped as long as its agent goes on, and not after that.
func TestAnAgentThatOutlivesItsTask(t *testing.T) {
	for _, state := range []string{"completed", "stopped"} {
		t.Run(state, func(t *testing.T) {
			s := begin(t)
			w := s.enter("s3cret")
			s.tell("task.changed", map[string]any{"task": task{ID: "t1", Title: "Mend the build", State: state}})
			w.shows("#tasks .state", state)
			w.click("#tasks summary")
			buttons := func() string {
				return eval[string](w, `[...document.querySelectorAll("#tasks .controls button")].filter((b) => b.checkVisibility()).map((b) => b.textContent).join()`)
			}
			assert.Equal(t, "Cancel the turn,Stop …", buttons())
			w.rest("#tasks .controls")
			w.press("Cancel the turn")
			w.shows("#live", "The turn is cancelled")
			w.press("Stop …")
			w.rest("#tasks .controls")
			w.press("Yes, stop it for good")
			w.shows("#live", "Stopped")
			assert.Equal(t, []string{"task.cancel t1", "task.stop t1"}, s.requests())
			s.tell("instance.changed", map[string]any{"instance": instance{ID: "i1", Task: "t1", Agent: "claude-acp", AgentName: "claude", State: "ended", Automatic: true}})
			w.shows("#tasks", "Its process has ended")
			assert.Empty(t, buttons())
		})
	}
}

func TestQuestionsAreAnswered(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	for _, q := range []question{
		{ID: "q1", Task: "t1", Text: "Which branch?", Options: []string{"main", "next"}, Opened: time.Now()},
		{ID: "q2", Task: "t1", Text: "Which name?", Opened: time.Now()},
	} {
		s.tell("question.opened", map[string]any{"question": q})
	}
	w.shows("#questions .card:nth-child(2)", "Which name?")
	w.settled("#questions .card:nth-child(2)")
	assert.Equal(t, "(2) assent", eval[string](w, "document.title"))
	w.click("#questions .card:nth-child(1) .answer:nth-child(2)")
	w.shows("#questions .card:nth-child(1)", "Answered, by you: ‹next›")
	w.click("#questions .card:nth-child(2) textarea")
	w.keys("release-2")
	w.settled("#questions .card:nth-child(2)")
	w.click("#questions .card:nth-child(2) form button")
	w.shows("#questions .card:nth-child(2)", "Answered, by you: ‹release-2›")
	assert.Equal(t, []string{"question.answer q1 next", "question.answer q2 release-2"}, s.requests())
	w.shows("#questions-count", "")
	w.until(`document.title === "assent"`)
}

func TestAutomaticDecisionsAreLogged(t *testing.T) {
	s := begin(t)
	s.state.Decisions = []decision{{Task: "t1", Stage: "option", Reason: "injected_mcp", Verdict: "select", Kind: "allow_once", Tool: "list_tasks", Server: "kandev", Time: time.Now()}}
	w := s.enter("s3cret")
	w.shows("#journal", "Allow once, by itself: Call list_tasks of kandev")
	s.tell("net", map[string]any{"net": "tripwire", "reason": "tripwire_fired", "task": "t1"})
	w.shows("#journal li:first-child", "an approved call never arrived at the endpoint")
	w.shows("#journal li:nth-child(2)", "approved for this one call")
}

// What the page is told again after it was in the state stands there once; what came later
// comes, of each list and task by its own number.
func TestWhatIsToldTwiceStandsThereOnce(t *testing.T) {
	s := begin(t)
	now := time.Now()
	decided := decision{Task: "t1", Reason: "injected_mcp", Verdict: "select", Kind: "allow_once", Tool: "list_tasks", Server: "kandev", Time: now, Number: 7}
	fired := firedNet{"tripwire", "tripwire_fired", "t1", now, 3}
	s.state.Decisions, s.state.Nets = []decision{decided}, []firedNet{fired}
	w := s.enter("s3cret")
	w.shows("#journal", "Call list_tasks of kandev")
	s.tell("decision", map[string]any{"decision": decided})
	s.tell("net", fired)
	fired.Number = 4
	s.tell("net", fired)
	decided.Tool, decided.Number = "get_task", 8
	s.tell("decision", map[string]any{"decision": decided})
	w.shows("#journal li:first-child", "Call get_task of kandev")
	decided.Task, decided.Tool, decided.Number = "t2", "stop_task", 1
	s.tell("decision", map[string]any{"decision": decided})
	w.shows("#journal li:first-child", "Call stop_task of kandev")
	assert.Equal(t, 5, eval[int](w, `document.querySelectorAll("#journal li").length`))
	assert.Equal(t, 2, eval[int](w, `document.querySelectorAll("#journal li.warning").length`))
}

// What the nets tell is still there after the page has connected anew, in its order,
// and on a page that comes later; a net's lines stay whatever else there is.
func TestWarningsStay(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	noon := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	fired, ran := firedNet{"tripwire", "tripwire_fired", "t1", noon, 0}, unasked{"t1", "execute", noon.Add(time.Minute)}
	s.tell("net", fired)
	s.tell("unasked", ran)
	w.shows("#journal li:nth-child(1)", "Ran without asking: Run a command")
	w.shows("#journal li:nth-child(2)", "No automatic approval any more")
	s.disconnect()
	s.state.Nets, s.state.Unasked = []firedNet{fired}, []unasked{ran}
	s.state.Decisions = []decision{{Task: "t1", Reason: "injected_mcp", Verdict: "select", Kind: "allow_once", Time: noon.Add(30 * time.Second)}}
	w.shows("#connection", "Not connected")
	s.connect()
	for _, page := range []*window{w, s.enter("phone")} {
		page.connected()
		page.shows("#journal li:nth-child(1)", "Ran without asking: Run a command")
		page.shows("#journal li:nth-child(2)", "Allow once")
		page.shows("#journal li:nth-child(3)", "No automatic approval any more")
		assert.Equal(t, 3, eval[int](page, `document.querySelectorAll("#journal li").length`))
		assert.Equal(t, 2, eval[int](page, `document.querySelectorAll("#journal li.warning").length`))
	}
	for range 250 {
		s.tell("decision", map[string]any{"decision": s.state.Decisions[0]})
	}
	s.tell("decision", map[string]any{"decision": decision{Task: "t1", Reason: "injected_mcp", Verdict: "select", Kind: "allow_once", Tool: "last", Server: "kandev", Time: noon}})
	w.shows("#journal li:first-child", "Call last of kandev")
	assert.Equal(t, 200, eval[int](w, `document.querySelectorAll("#journal li").length`))
	w.shows("#journal li:last-child", "No automatic approval any more")
	assert.Equal(t, 1, eval[int](w, `document.querySelectorAll("#journal li.warning").length`))
}
