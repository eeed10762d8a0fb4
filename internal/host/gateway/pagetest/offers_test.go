package pagetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestACardIsAnsweredByClick(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	w.shows("#no-offers", "Nothing waits for you")
	s.ask(shell("go test ./..."))
	w.shows(".card", "Run a command")
	shown := w.text(".card")
	for _, part := range []string{"‹go test ./...›", "‹Mend the build›", "claude-acp", "no tool of the injected server", "not_injected", "waits for"} {
		assert.Contains(t, shown, part)
	}
	assert.Equal(t, "(1) assent", eval[string](w, "document.title"))
	w.settled(".card")
	assert.Equal(t, []string{"allow_once", "allow_always", "reject_once", "cancel"},
		eval[[]string](w, `[...document.querySelectorAll(".answer")].map((b) => b.classList[1])`), "least reach first")
	assert.Contains(t, w.text(".answer.allow_always"), "reaches as far as allow_always", "the server's words")
	w.click(".card .allow_once")
	w.shows(".card", "Answered: Allow once, by you")
	assert.Equal(t, []string{"yes"}, s.answered())
	w.settled(".card")
	w.click(".card .dismiss")
	w.until(`document.querySelectorAll(".card").length === 0`)
	w.shows("#no-offers", "Nothing waits for you")
}

func TestACardIsAnsweredByKeyboard(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	s.ask(shell("make"))
	s.ask(shell("make install"))
	w.until(`document.querySelectorAll(".card").length === 2`)
	w.settled(".card:nth-child(2)")
	w.keys("\t\r") // the skip link is the first thing that Tab reaches
	w.until(`document.activeElement === document.querySelector(".card")`)
	w.keys("j")
	w.until(`document.activeElement === document.querySelectorAll(".card")[1]`)
	w.keys("k3")
	w.shows(".card", "Answered: Reject once, by you")
	assert.Equal(t, []string{"no"}, s.answered(), "the third button of the first card")
	w.until(`document.activeElement === document.querySelector(".card")`)
	w.settled(".card:nth-child(2)")
	w.keys("j0")
	w.shows(".card:nth-child(2)", "Neither allowed nor rejected")
	assert.Equal(t, []string{"no", "cancelled"}, s.answered())
	w.settled(".card:nth-child(2)")
	w.keys("x")
	w.until(`document.querySelectorAll(".card").length === 1 && document.activeElement === document.querySelector(".card")`)
}

func TestAButtonIsReachedByTab(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	s.ask(shell("make"))
	w.settled(".card")
	w.keys("\t\r")
	w.keys("\t\t\t") // over the detail and the first answer
	w.until(`document.activeElement.classList.contains("allow_always")`)
	w.frames() // it has scrolled there
	assert.NotEqual(t, "none", eval[string](w, `getComputedStyle(document.activeElement).outlineStyle`), "the focus can be seen")
	w.keys("\r")
	w.shows(".card", "Answered: Allow always, by you")
	assert.Equal(t, []string{"always"}, s.answered())
}

func TestAWithdrawnCardSaysSo(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	key := s.ask(shell("make"))
	s.ask(shell("make install"))
	w.until(`document.querySelectorAll(".card").length === 2`)
	height := eval[float64](w, `document.querySelectorAll(".card")[1].getBoundingClientRect().top`)
	require.Equal(t, 2, s.store.Withdraw(key.Instance, id7), "both have the agent's id 7")
	w.shows(".card", "Withdrawn: the agent took it back")
	w.until(`document.querySelectorAll(".card.over").length === 2`)
	assert.InDelta(t, height, eval[float64](w, `document.querySelectorAll(".card")[1].getBoundingClientRect().top`), 1, "cards keep their place")
	w.settled(".card")
	w.click("#dismiss-all")
	w.until(`document.querySelectorAll(".card").length === 0`)
}

func TestAnotherTabAnswers(t *testing.T) {
	s := begin(t)
	desk, phone := s.enter("s3cret"), s.enter("phone")
	s.ask(shell("make"))
	desk.settled(".card")
	phone.settled(".card")
	phone.click(".card .reject_once")
	phone.shows(".card", "Answered: Reject once, by you")
	desk.shows(".card", "Answered: Reject once, by phone (page)")
	assert.Equal(t, []string{"no"}, s.answered())
}

// Between an answer elsewhere and its event the page does not know: it is told by the
// server then, and says so without calling it an error.
func TestAlreadyAnsweredBySomebodyElse(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	key := s.ask(shell("make"))
	w.settled(".card")
	s.stop() // no event any more
	<-s.told
	require.NoError(t, s.store.Resolve(key, answer{Choice: "deny"}.pending(), someone))
	w.click(".card .allow_once")
	w.shows(".card", "Answered, by somebody else")
	assert.Empty(t, w.text(".card .problem"))
	assert.Equal(t, []string{"no"}, s.answered())
}

func TestTheAgentEnds(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	key := s.ask(shell("make"))
	w.settled(".card")
	s.store.DropInstance(key.Instance)
	w.shows(".card", "The agent has ended")
	assert.Zero(t, eval[int](w, `document.querySelectorAll(".answer").length`))
}

func TestTheDetailIsShownOnRequestAlone(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	s.ask(`{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"call","kind":"edit",` +
		`"title":"Edit a.go","rawInput":{"file_path":"a.go","secret":"needle"},"content":[{"type":"diff","path":"a.go","oldText":"one\ntwo\nthree","newText":"one\n2\nthree"}]}}}`)
	w.settled(".card")
	assert.NotContains(t, eval[string](w, "document.documentElement.textContent"), "needle")
	w.click(".card .quiet")
	w.shows(".card .detail", "needle")
	assert.Contains(t, w.text(".card .detail"), "  one\n- two\n+ 2\n  three")
	assert.Contains(t, w.text(".card .detail .trace"), "no_blanket_approval")
	w.picture("detail")
	w.settled(".card")
	w.click(".card .allow_once")
	w.shows(".card", "Answered: Allow once")
	assert.NotContains(t, eval[string](w, "document.documentElement.textContent"), "needle", "nothing of it is kept")
}
