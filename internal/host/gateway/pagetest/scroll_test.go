package pagetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// noteMoves notes, a few frames after the next click, where the answers of card n are
// in the window and on the page, and whether they are inert.
func (w *window) noteMoves(n int) {
	w.Helper()
	w.run(fmt.Sprintf(`window.note = undefined;
		const answers = document.querySelectorAll(".card")[%d].querySelector(".answers");
		const top = () => Math.round(answers.getBoundingClientRect().top);
		const before = { seen: top(), place: top() + Math.round(scrollY), moved: answers.classList.contains("moved") };
		addEventListener("click", () => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => {
			window.note = { before, seen: top(), place: top() + Math.round(scrollY), moved: answers.classList.contains("moved") };
		}))), { once: true })`, n))
}

// When the lowest card goes, the page is shorter, and the card before it slides under
// the pointer although it keeps its place on the page.
func TestDismissalAtTheBottomMovesWhatIsAbove(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	for range 5 {
		s.ask(shell("make"))
	}
	last := s.ask(shell("make install"))
	w.until(`document.querySelectorAll(".card").length === 6`)
	w.settled(".card:last-child")
	assert.NoError(t, s.store.Resolve(last, answer{Choice: "deny"}.pending(), someone))
	w.shows(".card:last-child", "by ada")
	w.run(`scrollTo(0, document.body.scrollHeight)`)
	w.settled(".card:last-child")
	w.until(`!document.querySelectorAll(".card")[4].querySelector(".answers").classList.contains("moved")`)
	w.noteMoves(4)
	w.click(".card:last-child .dismiss")
	w.until(`window.note`)
	assert.True(t, eval[bool](w, "note.seen > note.before.seen + 50"), "it has moved in the window")
	assert.True(t, eval[bool](w, "Math.abs(note.place - note.before.place) <= 1"), "and not on the page")
	assert.False(t, eval[bool](w, "note.before.moved"))
	assert.True(t, eval[bool](w, "note.moved"), "what slid under the pointer is inert")
	w.settled(".card:last-child")
	w.click(".card:last-child .allow_once")
	w.shows(".card:last-child", "Answered: Allow once, by you")
}

// Who scrolls knows it, and can answer at once.
func TestAPersonScrolls(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	for range 6 {
		s.ask(shell("make"))
	}
	w.until(`document.querySelectorAll(".card").length === 6`)
	w.settled(".card:last-child")
	w.until(`document.querySelectorAll(".moved").length === 0`)
	for _, to := range []int{0, 100} {
		w.run(fmt.Sprintf("scrollTo(0, %d)", to))
		w.frames()
		assert.Equal(t, to, eval[int](w, "scrollY"))
		assert.Zero(t, eval[int](w, `document.querySelectorAll(".moved").length`))
	}
	w.run(`document.querySelector(".card:nth-child(2) .allow_once").scrollIntoView({ block: "center" })`)
	w.frames()
	w.click(".card:nth-child(2) .allow_once")
	w.shows(".card:nth-child(2)", "Answered: Allow once, by you")
}
