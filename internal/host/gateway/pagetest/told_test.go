package pagetest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/pending"
)

// A page whose token has too many connections says so while it tries again.
func TestATokenWithTooManyConnections(t *testing.T) {
	s := begin(t)
	header := http.Header{"Authorization": {"Bearer s3cret"}}
	var last *websocket.Conn
	for {
		conn, answer, err := websocket.Dial(t.Context(), "ws://"+s.address+"/ws", &websocket.DialOptions{HTTPHeader: header})
		if err != nil {
			require.Equal(t, http.StatusTooManyRequests, answer.StatusCode)
			break
		}
		defer func() { _ = conn.CloseNow() }()
		last = conn
	}
	w := open(t)
	w.visit("http://" + s.address + "/#token=s3cret")
	w.shows("#connection", "Not connected: this token has too many connections: close one (the next try is in")
	require.NoError(t, last.CloseNow())
	w.run(`document.getElementById("now").click()`)
	w.connected()
	assert.NotContains(t, w.text("#connection"), "too many")
}

// What the host has to say about a task can be seen without opening anything, in one
// line, and in an open task once: as text.
func TestTheNoteOfATask(t *testing.T) {
	s := begin(t)
	note := "The agent could not go on: <b>it has ended</b>. " + strings.Repeat("Send a prompt. ", 20)
	s.state.Tasks[0].Note = note
	w := s.enter("s3cret")
	w.shows("#tasks .mark", "The agent could not go on: <b>it has ended</b>")
	seen := func() []bool {
		return eval[[]bool](w, `[".mark", ".note"].map((name) => document.querySelector("#tasks " + name).checkVisibility())`)
	}
	assert.Equal(t, []bool{true, false}, seen())
	w.picture("note")
	assert.LessOrEqual(t, eval[int](w, `document.querySelector("#tasks").offsetHeight`), 80, "title and one line")
	w.click("#tasks summary")
	w.until(`!document.querySelector("#tasks .mark").checkVisibility()`)
	w.shows("#tasks .note", "<b>it has ended</b>")
	assert.Equal(t, []bool{false, true}, seen())
	s.tell("task.text", text{"t1", note, "host", true, 1})
	w.shows("#tasks .spoken", "assent: The agent could not go on: <b>it has ended</b>")
	assert.Equal(t, []bool{false, false}, seen(), "it was said")
	s.tell("task.text", text{"t1", "Go on.", "prompt", true, 2})
	w.shows("#tasks .spoken", "It was told: Go on.")
	assert.Equal(t, []bool{false, true}, seen())
	s.tell("task.changed", map[string]any{"task": task{ID: "t1", Title: "Mend the build", State: "running"}})
	w.until(`!document.querySelector("#tasks .note").checkVisibility()`)
	assert.Equal(t, []bool{false, false}, seen())
}

// What is open stays open when the page is loaded anew, for the same token alone.
func TestWhatIsOpenStaysOpen(t *testing.T) {
	s := begin(t)
	s.state.Tasks = append(s.state.Tasks, task{ID: "t2", Title: "Write the docs", State: "idle"})
	w := s.enter("s3cret")
	open := func() []bool {
		return eval[[]bool](w, `[...document.querySelectorAll("#tasks details, #start, #keys")].map((details) => details.open)`)
	}
	w.click("#tasks > li:nth-child(2) summary")
	w.click("#keys summary")
	w.until(`sessionStorage.getItem("assent-open")?.includes("keys")`)
	require.NoError(t, chromedp.Do(w.ctx, chromedp.Reload()))
	w.connected()
	assert.Equal(t, []bool{false, true, false, true}, open())
	w.click("#keys summary")
	w.until(`!sessionStorage.getItem("assent-open").includes("keys")`)
	require.NoError(t, chromedp.Do(w.ctx, chromedp.Reload()))
	w.connected()
	assert.Equal(t, []bool{false, true, false, false}, open())
	w.run(`location.hash = "#token=phone"`)
	w.shows("#connection", "Connected as phone")
	assert.Equal(t, []bool{false, false, false, false}, open())
}

// An agent that has ended is spoken of in the past.
func TestHowAnAgentIsCalled(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	w.click("#tasks summary")
	w.shows("#tasks", "Its process is there and calls itself ‹claude›.")
	s.tell("instance.changed", map[string]any{"instance": instance{ID: "i1", Task: "t1", AgentName: "claude", State: "ended", Automatic: true}})
	w.shows("#tasks", "Its process has ended; it called itself ‹claude›.")
}

// What is gone with an earlier run of the server is said: since when the page knows of
// decisions, where earlier ones are, and what was said in a task that is older.
func TestSinceWhenThePageKnows(t *testing.T) {
	s := begin(t)
	s.state.Started = time.Now()
	s.state.Tasks = []task{
		{ID: "old", Title: "Mend the build", State: "idle", Created: s.state.Started.Add(-time.Hour)},
		{ID: "untold", Title: "Write the docs", State: "created", Created: s.state.Started.Add(-time.Hour)},
		{ID: "new", Title: "Run the tests", State: "idle", Created: s.state.Started.Add(time.Hour)},
	}
	w := s.enter("s3cret")
	w.shows("#journal-since", "Nothing since the server was started, "+eval[string](w, `new Date().toLocaleDateString(undefined, { dateStyle: "medium" })`))
	assert.Contains(t, w.text("#journal-since"), "Earlier decisions are in its audit: assent audit")
	lost := eval[[]bool](w, `[...document.querySelectorAll("#tasks > li")].map((task) => task.textContent.includes("What was said before the server was started"))`)
	assert.Equal(t, []bool{true, false, false}, lost)
	w.run(`for (const details of document.querySelectorAll("#tasks details")) details.open = true`)
	s.tell("acted", acted{"old", "stop", pending.Responder{Name: "ada", Surface: "page"}, time.Now()})
	w.shows("#journal", "‹Mend the build› Task stopped, by ada (page)")
	w.picture("since")
	assert.Equal(t, 0, strings.Index(w.text("#journal-since"), "Since the server was started"))
}

// What people and agents did to tasks is among what was decided, now and later.
func TestWhatWasDoneToTasks(t *testing.T) {
	s := begin(t)
	now := time.Now()
	s.state.Acted = []acted{
		{"t1", "question", pending.Responder{Name: "ada", Surface: "page"}, now.Add(-3 * time.Minute)},
		{"t1", "interrupt", pending.Responder{Name: "ada", Surface: "api"}, now.Add(-time.Minute)},
		{"t1", "toString", pending.Responder{Name: "ada", Surface: "api"}, now},
	}
	s.state.Closed = []closed{{Task: "t1", Action: pending.Action{Type: "execute"}, Time: now.Add(-2 * time.Minute), Outcome: "expired"}}
	w := s.enter("s3cret")
	w.shows("#journal li:nth-child(4)", "Question answered, by ada (page)")
	w.shows("#journal li:nth-child(3)", "Expired")
	w.shows("#journal li:nth-child(2)", "Turn cancelled, by ada (api)")
	w.shows("#journal li:nth-child(1)", "Something done that this page does not know, by ada (api)")
	s.tell("acted", acted{"t1", "stop", pending.Responder{Surface: "agent"}, now})
	w.shows("#journal li:nth-child(1)", "‹Mend the build› Task stopped, by the agent of the task above")
}

// Who may tell the demo agent something is told which words it knows; others have words
// of their own.
func TestTheWordsOfTheDemo(t *testing.T) {
	s := begin(t)
	s.state.Agents = append(s.state.Agents, agent{"demo", "/src", false, true})
	s.state.Tasks = append(s.state.Tasks, task{ID: "t2", Title: "Try it", State: "idle", Agent: "demo"})
	w := s.enter("s3cret")
	w.click("#start summary")
	hint := func() bool { return eval[bool](w, `document.getElementById("demo-words").checkVisibility()`) }
	choose := func(agent string) {
		w.run(`const select = document.querySelector("#start-form select"); select.value = "` + agent + `"; select.dispatchEvent(new Event("change"))`)
	}
	assert.False(t, hint())
	choose("demo")
	assert.True(t, hint())
	w.picture("demo-words")
	choose("")
	assert.False(t, hint())
	w.run(`[...document.querySelectorAll("#tasks > li:nth-child(2) button")].find((b) => b.textContent === "Start a child").click()`)
	w.until(`document.activeElement.name === "title"`)
	assert.True(t, hint(), "a child has the agent of the task above")
}
