package pagetest

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/pipeline"
)

// markup would run, load or restyle if anything took it for more than text.
const markup = `<img src=x onerror="problems.push('ran')"><script>problems.push('ran')</script><b style="color:red">!</b>`

// Whatever an agent writes is text: nothing of it runs, and nothing becomes an element.
func TestNothingOfAnAgentIsMarkup(t *testing.T) {
	s := begin(t)
	s.state.Tasks[0].Title = markup
	s.state.Questions = []question{{ID: "q1", Task: "t1", Text: markup, Options: []string{markup}}}
	w := s.enter("s3cret")
	quoted, err := jsontext.AppendQuote(nil, markup)
	require.NoError(t, err)
	text := string(quoted)
	s.ask(`{"params":{"sessionId":"s1","toolCall":{"kind":`+text+`,"title":`+text+`,"rawInput":{"command":`+text+`,"path":`+text+`,"url":`+text+`}}}}`,
		pipeline.Option{ID: markup, Kind: pipeline.AllowOnce, Label: markup}, pipeline.Option{ID: "odd", Kind: markup, Label: "constructor"})
	s.tell("task.text", map[string]any{"task": "t1", "text": markup, "from": "agent"})
	s.tell("unasked", map[string]any{"task": "t1", "kind": "__proto__"})
	w.shows("#journal", "__proto__")
	w.click("#tasks summary")
	w.shows("#tasks .spoken", "onerror")
	w.settled(".card")
	w.run(`document.querySelector(".card").focus()`)
	w.keys("d")
	w.shows(".card .detail", "onerror")
	for _, place := range []string{".card h3", ".card .facts", ".card .detail", ".card .allow_once", "#questions pre", "#questions .answer", "#tasks .title"} {
		assert.Contains(t, eval[string](w, `document.querySelector("`+place+`").textContent`), "<", place)
	}
	assert.Equal(t, "Another answer", w.text(".card .unknown .word"))
	assert.Contains(t, w.text(".card .unknown .reach"), "reaches as far as <")
	assert.Zero(t, eval[int](w, `document.querySelectorAll("img, body script, [style*=color], b[style]").length`))
	w.picture("markup")
	w.settled(".card")
	w.click(".card .allow_once")
	w.shows(".card", "Answered: Allow once, by you")
	assert.Equal(t, []string{markup}, s.answered(), "the exact id")
}

// What turns text around or hides it comes escaped, and is shown as it comes.
func TestHiddenCharactersAreSeen(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	s.ask(shell("echo \u202egnp.exe"))
	w.shows(".card .facts", display.Line("echo \u202egnp.exe", 100))
	assert.Contains(t, w.text(".card .facts"), `\u202e`)
}

// Half a second after something moved nothing is answered, however it is tried.
func TestNothingIsAnsweredRightAfterAMove(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	// In the very frame in which the card appears.
	w.run(`new MutationObserver((_, observer) => {
		const card = document.querySelector(".card");
		if (!card) return;
		observer.disconnect();
		card.querySelector(".allow_once").click();
		card.focus();
		card.dispatchEvent(new KeyboardEvent("keydown", { key: "1", bubbles: true }));
		window.tried = true;
	}).observe(document.getElementById("offers"), { childList: true, subtree: true })`)
	key := s.ask(shell("make"))
	s.ask(shell("make install"))
	w.until(`window.tried && document.querySelectorAll(".card").length === 2`)
	w.shows("#live", "Something has just moved")
	w.shows("#notice", "Something has just moved, so nothing was done") // who looks is told, too
	w.settled(".card:nth-child(2)")
	require.Empty(t, s.answered())
	// The second card moves up when the first one is dismissed.
	require.NoError(t, s.store.Resolve(key, answer{Choice: "deny"}.pending(), someone))
	w.shows(".card", "Answered: Reject once, by ada (terminal)")
	w.settled(".card")
	w.run(`document.querySelector(".dismiss").click(); document.querySelector(".card .allow_once").click()`)
	assert.Equal(t, 1, eval[int](w, `document.querySelectorAll(".card").length`), "it was dismissed")
	w.until(`document.querySelector(".card .allow_once").getAttribute("aria-disabled") === "true"`)
	// The pointer went down before the card was there: a long press is no answer.
	w.settled(".card")
	assert.Equal(t, []string{"no"}, s.answered())
	w.run(`document.querySelector(".card .allow_once").click()`)
	w.shows(".card", "Answered: Allow once, by you")
	assert.Equal(t, []string{"no", "yes"}, s.answered(), "the very same click counts when nothing moves")
}

// clickWhatComes clicks an element in the very moment in which it appears.
func (w *window) clickWhatComes(selector string) {
	w.Helper()
	w.run(`window.tried = false;
	new MutationObserver((_, observer) => {
		const node = document.querySelector("` + selector + `");
		if (!node) return;
		observer.disconnect();
		node.click();
		window.tried = true;
	}).observe(document.body, { childList: true, subtree: true })`)
}

// Of two clicks the second meets what the first one brought, and does nothing there.
func TestADoubleClickAnswersOnce(t *testing.T) {
	s := begin(t)
	s.state.Questions = []question{{ID: "q1", Task: "t1", Text: "Which branch?", Options: []string{"main", "next"}}}
	w := s.enter("s3cret")
	s.ask(shell("make"))
	for _, c := range []struct{ card, button, words string }{
		{"#offers .card", ".allow_once", "Answered: Allow once, by you"},
		{"#questions .card", ".answer", "Answered, by"},
	} {
		w.settled(c.card)
		w.clickWhatComes(c.card + " .dismiss")
		w.run(`const button = document.querySelector("` + c.card + ` ` + c.button + `"); button.click(); button.click()`)
		w.until("window.tried")
		w.shows(c.card, c.words)
		w.settled(c.card)
		w.run(`document.querySelector("` + c.card + ` .dismiss").click()`)
		w.until(`!document.querySelector("` + c.card + `")`)
	}
	assert.Equal(t, []string{"yes"}, s.answered())
	assert.Equal(t, []string{"question.answer q1 main"}, s.requests())
}
