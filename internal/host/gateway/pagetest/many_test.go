package pagetest

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/ratio"
)

// many is how many offers are open at once.
const many = 10000

func (s *stand) askMany(n int) {
	s.Helper()
	for i := range n {
		s.ask(shell(fmt.Sprintf("make target-%d", i+1)))
	}
}

// Only the cards near the window exist, wherever it is.
func TestTenThousandOffers(t *testing.T) {
	s := begin(t)
	s.askMany(many)
	w := s.enter("s3cret")
	w.shows("#offers-title", fmt.Sprintf("Open requests (%d)", many))
	cards := `document.querySelectorAll(".card").length`
	assert.Less(t, eval[int](w, cards), 200)
	w.shows(".card", "make target-1›")
	w.run(`scrollTo(0, document.documentElement.scrollHeight)`)
	last := `[...document.querySelectorAll(".card")].at(-1)`
	w.until(last + `.innerText.includes("make target-10000›")`)
	w.until(cards + ` < 200`)
	w.run(`[...document.querySelectorAll(".card")].at(-1).focus()`)
	w.until(`!` + last + `.querySelector(".answers").classList.contains("moved")`)
	w.keys("1")
	w.until(last + `.innerText.includes("Answered: Allow once, by you")`)
	assert.Equal(t, []string{"yes"}, s.answered())
	s.ask(shell("one more"))
	w.until(last + `.innerText.includes("one more")`)
	w.run(`scrollTo(0, 0)`)
	w.shows(".card", "make target-1›")
	w.until(cards + ` < 200`)
}

// painted notes when the first card was on the screen, in ms since the navigation began.
const painted = `new MutationObserver((_, observer) => {
	if (!document.querySelector(".card")) return;
	observer.disconnect();
	requestAnimationFrame(() => setTimeout(() => { window.painted = performance.now(); }));
}).observe(document, { childList: true, subtree: true })`

// The first paint with ten thousand open offers against that with ten.
func BenchmarkRatioPage(b *testing.B) {
	first := func(n int) func() float64 {
		s := begin(b)
		s.askMany(n)
		w := open(b)
		_, err := chromedp.Call(w.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: painted})
		require.NoError(b, err)
		_, err = chromedp.Call(w.ctx, network.Disable, cdp.Empty{}) // or every message comes here, too
		require.NoError(b, err)
		visits := 0
		return func() float64 {
			visits++
			w.visit(fmt.Sprintf("http://%s/?visit=%d#token=s3cret", s.address, visits))
			w.until("window.painted > 0")
			return eval[float64](w, "window.painted")
		}
	}
	subject, reference := first(many), first(10)
	subject()
	reference() // whatever is slow only once
	ratio.Compare(b, "page_first_paint_10000_offers", 2, 15, subject, reference)
}
