package pagetest

import (
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// point moves the mouse to the middle of an element.
func (w *window) point(selector string) {
	w.Helper()
	at := eval[[]float64](w, `(() => { const box = document.querySelector("`+selector+`").getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]; })()`)
	_, err := chromedp.Call(w.ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: at[0], Y: at[1]})
	require.NoError(w, err)
}

// ticks waits until the page's clock, which is set forward first, was looked at again.
func (w *window) ticks(card string) {
	w.Helper()
	w.run(`window.real ??= Date.now; window.ahead = (window.ahead ?? 0) + 60000; Date.now = () => real() + ahead`)
	w.run(`window.clock = document.querySelector("` + card + ` time").textContent`)
	w.until(`document.querySelector("` + card + ` time").textContent !== clock`)
}

// A card that is over becomes one line, and what is open comes up: while no mouse is
// among the cards, and inert for a while.
func TestACardThatIsOverBecomesALine(t *testing.T) {
	s := begin(t)
	s.state.Questions = []question{{ID: "q1", Task: "t1", Text: "Which branch?", Options: []string{"main", "next"}}}
	w := s.enter("s3cret")
	first := s.ask(shell("make"))
	s.ask(shell("make install"))
	w.until(`document.querySelectorAll("#offers .card").length === 2`)
	w.shows("#to-questions", "1 question")
	second := "#offers .card:nth-child(2)"
	top := func() float64 {
		return eval[float64](w, `document.querySelector("`+second+`").getBoundingClientRect().top + scrollY`)
	}
	w.settled(second)
	w.point(second + " .allow_once")
	before := top()
	require.NoError(t, s.store.Resolve(first, answer{Choice: "deny"}.pending(), someone))
	w.shows("#offers .card", "by ada")
	w.ticks(second)
	w.ticks(second)
	assert.Zero(t, eval[int](w, `document.querySelectorAll(".folded").length`), "the mouse is among the cards")
	assert.InDelta(t, before, top(), 1, "what is under it stays there")
	w.run(`new MutationObserver((_, observer) => {
		if (!document.querySelector(".folded")) return;
		observer.disconnect();
		requestAnimationFrame(() => requestAnimationFrame(() => {
			window.inert = document.querySelector("` + second + ` .answers").classList.contains("moved");
		}));
	}).observe(document.getElementById("offers"), { attributes: true, subtree: true })`)
	w.point("aside h2")
	w.ticks(second)
	w.until(`window.inert !== undefined`)
	assert.True(t, eval[bool](w, "window.inert"), "what has moved is inert")
	assert.Less(t, top(), before-100)
	line := "#offers .card.folded"
	assert.Contains(t, w.text(line), "‹make›")
	assert.Contains(t, w.text(line), "Answered: Reject once, by ada (terminal)")
	assert.Less(t, eval[float64](w, `document.querySelector("`+line+`").getBoundingClientRect().height`), 60.0)
	w.picture("folded")
	w.settled(second)
	w.click(second + " .allow_once")
	w.shows(second, "Answered: Allow once, by you")
	assert.Equal(t, []string{"no", "yes"}, s.answered())
	w.rest("#questions .card .answers")
	w.click("#questions .answer")
	w.shows("#questions .card", "Answered, by you: ‹main›")
	w.until(`document.getElementById("to-questions").hidden`)
	w.point("aside h2")
	w.until(`Date.now() && document.querySelectorAll("#questions .folded").length === 1 && document.querySelectorAll("#offers .folded").length === 2`)
	w.settled(line)
	w.click(line + " .dismiss")
	w.until(`document.querySelectorAll("#offers .card").length === 1`)
	w.settled(line)
	w.run(`document.querySelector("` + line + `").focus()`)
	w.keys("x")
	w.until(`document.querySelectorAll("#offers .card").length === 0`)
}

// With a finger there is no mouse among the cards after it went up.
func TestACardBecomesALineOnAPhone(t *testing.T) {
	s := busy(t)
	w := open(t)
	require.NoError(t, chromedp.Do(w.ctx, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile)))
	w.visit("http://" + s.address + "/#token=s3cret")
	w.connected()
	w.settled(".card")
	require.NoError(t, chromedp.Do(w.ctx, chromedp.Tap(chromedp.CSS(".card .reject_once"))))
	w.shows(".card", "Answered: Reject once, by you")
	w.ticks(".card:nth-child(2)")
	w.until(`document.querySelectorAll("#offers .folded").length === 1`)
	assert.LessOrEqual(t, eval[int](w, "document.documentElement.scrollWidth"), 390)
	w.settled(".card:nth-child(2)")
	w.picture("phone-folded")
	require.NoError(t, chromedp.Do(w.ctx, chromedp.Tap(chromedp.CSS(".card:nth-child(2) .allow_once"))))
	w.shows(".card:nth-child(2)", "Answered: Allow once, by you")
	assert.Equal(t, []string{"no", "yes"}, s.answered())
}
