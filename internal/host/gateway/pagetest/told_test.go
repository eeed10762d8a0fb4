package pagetest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
