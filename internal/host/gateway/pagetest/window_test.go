package pagetest

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var pictures = flag.String("pictures", os.Getenv("ASSENT_PICTURES"), "folder for pictures of the page")

// window is a tab of the browser that shows the page.
type window struct {
	testing.TB
	ctx context.Context
}

// watchful notes what should not happen on the page.
const watchful = `window.problems = [];
addEventListener("error", (event) => problems.push(String(event.message)));
addEventListener("unhandledrejection", (event) => problems.push("rejected: " + JSON.stringify(event.reason)));
document.addEventListener("securitypolicyviolation", (event) => problems.push("policy: " + event.violatedDirective));`

// open opens an empty tab that looks out for problems.
func open(t testing.TB) *window {
	t.Helper()
	w := &window{t, tab(t)}
	_, err := chromedp.Call(w.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watchful})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.Empty(t, eval[[]string](w, "problems"), "errors on the page")
		if t.Failed() {
			w.picture("failed-" + filepath.Base(t.Name()))
		}
	})
	return w
}

// enter opens the page with a token, and waits until it is connected.
func (s *stand) enter(secret string) *window {
	s.Helper()
	w := open(s)
	w.visit("http://" + s.address + "/#token=" + secret)
	w.connected()
	return w
}

func (w *window) visit(address string) {
	w.Helper()
	require.NoError(w, chromedp.Do(w.ctx, chromedp.Navigate(address)))
}

func (w *window) connected() {
	w.Helper()
	w.until(`document.getElementById("connection").textContent.startsWith("Connected as")`)
}

// eval is the value of an expression on the page.
func eval[T any](w *window, expression string) T {
	w.Helper()
	value, err := chromedp.Run(w.ctx, chromedp.Evaluate[T](expression))
	require.NoError(w, err, expression)
	return value
}

// run runs statements on the page.
func (w *window) run(statements string) {
	w.Helper()
	eval[bool](w, "{"+statements+"; true}")
}

// patience is how long the page may take, on a machine with other things to do.
const patience = 60 * time.Second

// until waits until an expression is true. While the page is loaded anew it asks again.
func (w *window) until(expression string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	wait := `new Promise((resolve) => {
		const look = () => { try { if (` + expression + `) { resolve(true); return; } } catch { } setTimeout(look, 20); };
		look();
	})`
	for {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](wait, chromedp.EvalAwaitPromise))
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			shown, _ := chromedp.Run(w.ctx, chromedp.Evaluate[string]("document.body.innerText"))
			require.NoError(w, err, "%s never came true on a page that shows:\n%s", expression, shown)
		}
	}
}

// click clicks in the middle of an element with the mouse.
func (w *window) click(selector string) {
	w.Helper()
	require.NoError(w, chromedp.Do(w.ctx, chromedp.Click(chromedp.CSS(selector))), selector)
}

// settled waits until the answers of a card may be given, once the page had the time
// to notice what has moved: that is two frames.
func (w *window) settled(card string) {
	w.Helper()
	w.rest(card + " .answers")
}

// rest is settled for anything that is guarded. It scrolls there as a person would,
// before the click.
func (w *window) rest(guarded string) {
	w.Helper()
	w.until(`document.querySelector("` + guarded + ` button")`)
	w.run(`const box = document.querySelector("` + guarded + ` button").getBoundingClientRect();
		if (box.top < 0 || box.bottom > innerHeight) scrollBy(0, box.top - innerHeight / 2)`) // moves no focus
	w.frames()
	w.until(`!document.querySelector("` + guarded + `").classList.contains("moved")`)
}

// frames lets the page notice what has changed.
func (w *window) frames() {
	w.Helper()
	frames := `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))`
	_, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool](frames, chromedp.EvalAwaitPromise))
	require.NoError(w, err)
}

// keys types.
func (w *window) keys(keys string) {
	w.Helper()
	require.NoError(w, chromedp.Do(w.ctx, chromedp.KeyEvent(keys)))
}

// press clicks the button of the tasks that has these words, whatever is over it.
func (w *window) press(words string) {
	w.Helper()
	w.run(`[...document.querySelectorAll("#tasks .controls button")].find((b) => b.textContent === "` + words + `").click()`)
}

// text is what an element shows.
func (w *window) text(selector string) string {
	w.Helper()
	return eval[string](w, `document.querySelector("`+selector+`").innerText`)
}

// shows waits until an element shows a text.
func (w *window) shows(selector, text string) {
	w.Helper()
	quoted, err := jsontext.AppendQuote(nil, text)
	require.NoError(w, err)
	w.until(`document.querySelector("` + selector + `")?.innerText.includes(` + string(quoted) + `)`)
}

// picture writes one into the folder of the flag, or else into one that is removed.
func (w *window) picture(name string) {
	w.Helper()
	folder := *pictures
	if folder == "" {
		folder = w.TempDir()
	}
	png, err := chromedp.Run(w.ctx, chromedp.CaptureScreenshot())
	require.NoError(w, err)
	require.NotEmpty(w, png)
	require.NoError(w, os.MkdirAll(folder, 0o755))
	require.NoError(w, os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644))
}
