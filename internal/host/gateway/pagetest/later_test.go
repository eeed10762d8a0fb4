package pagetest

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/pending"
)

// A page that comes later shows what was said, each turn with what the agent was told,
// and what was answered. What is told twice is shown once.
func TestWhatWasSaidIsThereLater(t *testing.T) {
	s := begin(t)
	s.state.Texts = []text{
		{"t1", "Mend the build.\nIt fails in <b>main</b>.", "prompt", true, 1},
		{"t1", "I look at the log.", "agent", true, 4},
		{"t1", "The build is mended.", "agent", true, 6},
		{"t1", "The agent could not go on", "host", true, 7},
		{"none", "lost", "agent", true, 1},
	}
	s.state.Closed = []closed{{
		Task: "t1", Action: pending.Action{Type: "execute", Command: "make <all>"}, Time: time.Now(), Session: "s", Request: "r",
		Outcome: "answered", Verdict: "select", Kind: "allow_once", By: someone,
	}}
	w := s.enter("s3cret")
	w.shows("#journal", "Answered: Allow once, by ada (terminal)\nRun a command ‹make <all>›")
	w.click("#tasks summary")
	pieces := func() []string {
		return eval[[]string](w, `[...document.querySelectorAll("#tasks .spoken p")].map((p) => p.className + ": " + p.textContent)`)
	}
	want := []string{
		"from-prompt: It was told: Mend the build.\nIt fails in <b>main</b>.",
		"from-agent: I look at the log.", "from-agent: The build is mended.", "from-host: assent: The agent could not go on",
	}
	w.shows("#tasks .spoken", "The build is mended.")
	assert.Equal(t, want, pieces())
	w.picture("spoken")
	for _, piece := range []text{{"t1", "I look", "agent", true, 3}, {"t1", "Ma", "agent", true, 8}, {"t1", "Ma", "agent", true, 8}, {"t1", "ke.", "agent", false, 9}} {
		s.tell("task.text", piece)
	}
	w.shows("#tasks .spoken", "Make.")
	assert.Equal(t, append(want, "from-agent: Make."), pieces())
	s.disconnect()
	s.state.Texts = s.state.Texts[1:]
	w.shows("#connection", "Not connected")
	s.connect()
	w.connected()
	w.until(`!document.querySelector("#tasks .spoken .from-prompt")`)
	assert.Equal(t, want[1:], pieces())
}

// The address can name a task, and each task shows its id.
func TestTheAddressNamesATask(t *testing.T) {
	s := begin(t)
	s.state.Tasks = append(s.state.Tasks, task{ID: "task-2", Title: "Write the docs", State: "created"})
	w := open(t)
	w.visit("http://" + s.address + "/#task=task-2&token=s3cret")
	w.connected()
	second := "#tasks > li:nth-child(2) "
	w.until(`document.querySelector("` + second + `details").open && document.activeElement === document.querySelector("` + second + `summary")`)
	assert.Equal(t, "http://"+s.address+"/#task=task-2", eval[string](w, "location.href"), "the token has left it")
	assert.False(t, eval[bool](w, `document.querySelector("#tasks details").open`))
	w.shows(second+".ident code", "task-2")
	w.shows(second, "Nobody has told its agent anything yet")
	w.click("#tasks summary")
	w.click("#tasks .ident a")
	w.until(`location.hash === "#task=t1" && document.activeElement === document.querySelector("#tasks summary")`)
	require.NoError(t, chromedp.Do(w.ctx, chromedp.Reload()))
	w.connected()
	w.until(`document.querySelector("#tasks details").open`)
	w.run(`Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text; } }, configurable: true })`)
	w.click("#tasks .ident button")
	w.shows("#tasks .ident button", "Copied")
	assert.Equal(t, "t1", eval[string](w, "copied"))
	w.run(`Object.defineProperty(navigator, "clipboard", { value: undefined })`) // as without TLS on another machine
	w.click("#tasks .ident button")
	w.shows("#notice", "It is selected")
	assert.Equal(t, "t1", eval[string](w, "String(getSelection())"))
}

// A task is started with one of the agents that the server has.
func TestAgentsAreAList(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	w.click("#start summary")
	agents := func() []string {
		return eval[[]string](w, `[...document.querySelectorAll("#start-form option")].map((option) => option.textContent)`)
	}
	assert.Equal(t, []string{"the usual one: claude", "claude", "codex"}, agents())
	hint := `document.querySelector("#start-form [name=directory]").placeholder`
	assert.Equal(t, "without one /src/app", eval[string](w, hint))
	w.run(`const select = document.querySelector("#start-form select"); select.value = "codex"; select.dispatchEvent(new Event("change"))`)
	assert.Equal(t, "without one /src", eval[string](w, hint))
	w.click("#start-form [name=title]")
	w.keys("Write the docs\r")
	w.shows("#tasks > li:nth-child(2)", "Write the docs")
	w.click("#tasks > li:nth-child(2) summary")
	w.shows("#tasks > li:nth-child(2)", "Agent codex")
	w.click("#tasks summary")
	w.press("Start a child")
	w.until(`document.activeElement.name === "title"`)
	assert.Equal(t, "that of the task above", agents()[0])
	w.picture("start")
}

// Who sees some tasks alone starts children; who may not, has no form and is told so.
func TestATokenThatIsLimitedToTasks(t *testing.T) {
	s := begin(t)
	s.state.Limited = true
	w := s.enter("s3cret")
	visible := func(w *window, id string) bool {
		return eval[bool](w, `document.getElementById("`+id+`").checkVisibility()`)
	}
	w.shows("#may-not-start", "Your token is limited to these tasks")
	assert.False(t, visible(w, "start"))
	w.click("#tasks summary")
	w.press("Start a child")
	w.until(`document.activeElement.name === "title"`)
	assert.False(t, visible(w, "may-not-start"))
	w.keys("Run the tests\r")
	w.shows("#tasks > li > ul:last-child > li", "Run the tests")
	w.until(`!document.getElementById("start").checkVisibility()`)
	s.tokens["reader"] = dispatch.Person{Name: "reader", Scopes: dispatch.Scopes{dispatch.ScopeView}}
	reader := s.enter("reader")
	s.ask(shell("make"))
	reader.shows(".card", "Your token has not the scope answer")
	assert.True(t, visible(reader, "may-not-operate"))
	assert.False(t, visible(reader, "start"))
}

// Pictures of a task with everything, on a desk and a phone, light and dark.
func TestATaskFitsOnAPhone(t *testing.T) {
	s := busy(t)
	s.state.Tasks[0].Note = "The server was started anew; the agent's session was taken up again."
	s.state.Texts = []text{
		{"t1", "Mend the build, and tell me what was wrong with it.", "prompt", true, 1},
		{"t1", "I look at the log first, then at the last changes of the file that does not compile.", "agent", true, 2},
		{"t1", "The build is mended: a comma was missing.", "agent", true, 3},
		{"t1", "Now run the tests.", "prompt", true, 4},
	}
	w := s.enter("s3cret")
	w.run(`for (const details of document.querySelectorAll("#tasks details")) details.open = true`)
	w.rest("#tasks .controls")
	w.press("Stop …")
	w.picture("task")
	require.NoError(t, chromedp.Do(w.ctx, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile)))
	w.run(`document.querySelector("#tasks").scrollIntoView()`)
	w.frames()
	for _, scheme := range []string{"light", "dark"} {
		w.media(&emulation.MediaFeature{Name: "prefers-color-scheme", Value: scheme})
		for _, selector := range []string{".spoken .from-prompt", ".spoken .from-agent", ".note", "button.danger", ".ident a", ".certain p"} {
			assert.GreaterOrEqual(t, eval[float64](w, contrast(selector)), 4.5, "%s %s", scheme, selector)
		}
		w.picture("task-phone-" + scheme)
	}
	assert.LessOrEqual(t, eval[int](w, "document.documentElement.scrollWidth"), 390)
}
