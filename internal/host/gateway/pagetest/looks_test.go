package pagetest

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// media sets features of CSS, by name and value.
func (w *window) media(features ...*emulation.MediaFeature) {
	w.Helper()
	_, err := chromedp.Call(w.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
	require.NoError(w, err)
}

// busy fills a stand with a bit of everything.
func busy(t *testing.T) *stand {
	s := begin(t)
	s.state.Tasks = append(s.state.Tasks, task{ID: "t3", Parent: "t1", Title: "Run the tests", State: "running", Agent: "codex-acp"})
	s.state.Questions = []question{{ID: "q1", Task: "t1", Text: "Which branch shall I base it on?", Options: []string{"main", "next"}}}
	s.state.Decisions = []decision{
		{Task: "t1", Stage: "option", Reason: "injected_mcp", Verdict: "select", Kind: "allow_once", Tool: "list_tasks_kandev", Server: "kandev", Time: time.Now()},
		{Task: "t3", Stage: "option", Reason: "injected_mcp", Verdict: "select", Kind: "allow_once", Tool: "create_task_kandev", Server: "kandev", Time: time.Now()},
	}
	s.ask(shell("go test ./... && git push origin HEAD:refs/heads/" + "a-rather-long-name-of-a-branch-that-does-not-break-anywhere"))
	s.ask(shell("rm -rf ./build"))
	return s
}

// On a phone nothing is wider than the screen, and what is pressed is large enough.
func TestOnAPhone(t *testing.T) {
	s := busy(t)
	w := open(t)
	require.NoError(t, chromedp.Do(w.ctx, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile)))
	w.visit("http://" + s.address + "/#token=s3cret")
	w.connected()
	w.settled(".card")
	w.picture("phone")
	assert.Equal(t, 390, eval[int](w, "innerWidth"))
	assert.LessOrEqual(t, eval[int](w, "document.documentElement.scrollWidth"), 390)
	small := `[...document.querySelectorAll(".answer")].filter((b) => b.getBoundingClientRect().height < 44 || b.getBoundingClientRect().right > 390).length`
	assert.Zero(t, eval[int](w, small))
	require.NoError(t, chromedp.Do(w.ctx, chromedp.Tap(chromedp.CSS(".card .reject_once"))))
	w.shows(".card", "Answered: Reject once, by you")
	assert.Equal(t, []string{"no"}, s.answered())
}

// Light and dark differ, and text is readable in both.
func TestInTheDark(t *testing.T) {
	s := busy(t)
	w := s.enter("s3cret")
	require.NoError(t, chromedp.Do(w.ctx, chromedp.EmulateViewport(1040, 640)))
	w.settled(".card")
	colors := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		w.media(&emulation.MediaFeature{Name: "prefers-color-scheme", Value: scheme})
		colors[scheme] = eval[string](w, "getComputedStyle(document.body).backgroundColor")
		for _, selector := range []string{"body", ".card .why code", ".card time", ".allow_once .word", ".allow_always .word", ".reject_once .word", ".reach", ".state"} {
			assert.GreaterOrEqual(t, eval[float64](w, contrast(selector)), 4.5, "%s %s", scheme, selector)
		}
		w.picture("page-" + scheme)
	}
	assert.NotEqual(t, colors["light"], colors["dark"])
}

// contrast is the ratio of WCAG between the color of a text and what is behind it.
func contrast(selector string) string {
	return `(() => {
		const light = (color) => color.match(/[\d.]+/g).slice(0, 3).map((v) => v / 255)
			.map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
		const node = document.querySelector("` + selector + `");
		let behind = node;
		while (getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
		const [a, b] = [light(getComputedStyle(node).color), light(getComputedStyle(behind).backgroundColor)].sort((a, b) => b - a);
		return (a + 0.05) / (b + 0.05);
	})()`
}

// Who wants no motion gets none.
func TestReducedMotion(t *testing.T) {
	s := busy(t)
	w := s.enter("s3cret")
	w.settled(".card")
	w.run(`document.querySelector(".answers").classList.add("moved")`)
	durations := map[string]string{}
	for _, wish := range []string{"no-preference", "reduce"} {
		w.media(&emulation.MediaFeature{Name: "prefers-reduced-motion", Value: wish})
		durations[wish] = eval[string](w, `getComputedStyle(document.querySelector(".answer")).transitionDuration`)
	}
	assert.Equal(t, map[string]string{"no-preference": "0.1s", "reduce": "0s"}, durations)
}

// What a screen reader finds: landmarks, headings, names, and one polite live region.
func TestToAScreenReader(t *testing.T) {
	s := busy(t)
	w := s.enter("s3cret")
	w.settled(".card")
	assert.Equal(t, []string{"HEADER", "MAIN", "ASIDE"},
		eval[[]string](w, `[...document.querySelectorAll("body > header, main, aside")].filter((e) => e.checkVisibility()).map((e) => e.tagName)`))
	assert.Equal(t, "polite", eval[string](w, `document.querySelector("[role=status]").getAttribute("aria-live")`))
	assert.Empty(t, eval[[]string](w, `[...document.querySelectorAll("button, input, textarea, summary")]
		.filter((e) => !e.textContent.trim() && !e.ariaLabel && !e.labels?.length).map((e) => e.outerHTML)`), "everything has a name")
	assert.Equal(t, []string{"Run a command", "Run a command"},
		eval[[]string](w, `[...document.querySelectorAll("#offers article")].map((e) => document.getElementById(e.getAttribute("aria-labelledby")).textContent)`))
	assert.Empty(t, eval[[]string](w, `[...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i)`), "ids are there once")
	s.ask(shell("make"))
	w.shows("#live", "New: Run a command")
}
