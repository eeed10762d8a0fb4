package pagetest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/pending"
)

// Every way in which an offer ends has its words.
func TestHowACardEnds(t *testing.T) {
	someone := pending.Responder{Name: "ada", Surface: "mcp"}
	s := begin(t)
	w := s.enter("s3cret")
	for _, c := range []struct {
		name  string
		end   closed
		words string
	}{
		{"allowed", closed{Outcome: "answered", Verdict: "select", Kind: "allow_once", By: someone}, "Answered: Allow once, by ada (mcp)"},
		{"rejected for good", closed{Outcome: "answered", Verdict: "select", Kind: "reject_always", By: someone}, "Answered: Reject always, by ada (mcp)"},
		{"by another kind", closed{Outcome: "answered", Verdict: "select", Kind: "other", By: someone}, "Answered, by ada (mcp)"},
		{"neither", closed{Outcome: "answered", Verdict: "cancel", By: someone}, "Answered: Neither allowed nor rejected, by ada (mcp)"},
		{"expired", closed{Outcome: "expired", Verdict: "cancel"}, "Expired: nobody answered in time"},
		{"withdrawn", closed{Outcome: "withdrawn", Verdict: "cancel"}, "Withdrawn: the agent took it back"},
		{"cancelled", closed{Outcome: "cancelled", Verdict: "cancel"}, "Cancelled: its turn is over"},
		{"agent gone", closed{Outcome: "agent_gone", Verdict: "cancel"}, "The agent has ended"},
		{"restarted", closed{Outcome: "server_restarted", Verdict: "cancel"}, "The server ended, and this request with it"},
		{"not known yet", closed{Outcome: "toString", Verdict: "cancel"}, "It is over"},
	} {
		key := s.ask(shell("make"))
		w.settled(".card")
		c.end.Session, c.end.Request = key.Session, string(key.Request)
		s.tell("offer.closed", c.end)
		w.until(`document.querySelector(".card.over")`)
		assert.Equal(t, c.words, w.text(".card .ending"), c.name)
		assert.Zero(t, eval[int](w, `document.querySelectorAll(".answer").length`), c.name)
		assert.Equal(t, "assent", eval[string](w, "document.title"), "it is not counted any more")
		w.click("#dismiss-all")
		w.until(`document.querySelectorAll(".card").length === 0`)
	}
}

func TestChangesAreLines(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	for _, c := range []struct{ name, before, after, want string }{
		{"one line", "a", "b", "- a\n+ b"},
		{"a new file", "", "a", "- \n+ a"},
		{"in the middle", "1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\nfive\n6\n7\n8\n9",
			"  (1 lines before this are the same)\n  2\n  3\n  4\n- 5\n+ five\n  6\n  7\n  8\n  (1 lines after this are the same)"},
		{"a line more", "a\nb", "a\nx\nb", "  a\n+ x\n  b"},
		{"a line less", "a\nb\nb\nc", "a\nb\nc", "  a\n  b\n- b\n  c"},
		{"nothing", "a\nb", "a\nb", "  a\n  b"},
	} {
		texts, err := jsontext.AppendQuote(nil, c.before)
		require.NoError(t, err)
		after, err := jsontext.AppendQuote(nil, c.after)
		require.NoError(t, err)
		got, err := chromedp.Run(w.ctx, chromedp.Evaluate[string](
			`import("/diff.js").then((module) => module.diff(`+string(texts)+`, `+string(after)+`))`, chromedp.EvalAwaitPromise))
		require.NoError(t, err)
		assert.Equal(t, c.want, got, c.name)
	}
}

// A notification is for who asked for it and does not look, and says nothing of the agent.
func TestNotifications(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	w.run(`window.notes = [];
		window.Notification = class {
			static permission = "default";
			static async requestPermission() { return (Notification.permission = "granted"); }
			constructor(title, options) { notes.push(title + ": " + options.body + (options.renotify ? "" : ", silently")); }
		};
		Object.defineProperty(document, "hidden", { value: true })`)
	s.ask(shell("make"))
	w.shows("#offers-count", "(1)")
	assert.Zero(t, eval[int](w, "notes.length"), "nobody asked for it")
	w.click("#notify")
	w.shows("#notify", "Do not notify me")
	s.ask(shell("make install"))
	w.until("notes.length > 1")
	assert.Equal(t, []string{"assent: You will be notified", "assent: an agent asks: 2 open"}, eval[[]string](w, "notes"))
}

// Where the browser lets no page notify, it is not offered, and nothing breaks.
func TestNotificationsThatCannotBe(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	w.run(`window.Notification = class {
			static permission = "default";
			static async requestPermission() { return (Notification.permission = "granted"); }
			constructor() { throw new TypeError("Illegal constructor"); }
		};
		Object.defineProperty(document, "hidden", { value: true })`)
	w.click("#notify")
	w.until(`document.getElementById("notify").hidden`)
	s.ask(shell("make"))
	w.shows("#offers-count", "(1)")
}
