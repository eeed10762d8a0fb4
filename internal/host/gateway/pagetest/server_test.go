package pagetest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/dispatch"
)

func TestTheServerRestarts(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	s.ask(shell("make"))
	w.settled(".card")
	s.down()
	w.until(`document.body.classList.contains("offline")`)
	w.run(`document.querySelector(".card .allow_once").click()`)
	w.shows(".card .problem", "not connected")
	s.up()
	s.ask(shell("make install"))
	w.shows(".card", "The server ended, and this request with it")
	w.shows(".card:nth-child(2)", "make install")
	w.connected()
	w.picture("restarted")
	w.settled(".card:nth-child(2)")
	w.click(".card:nth-child(2) .allow_once")
	w.shows(".card:nth-child(2)", "Answered: Allow once, by you")
	assert.Equal(t, []string{"cancelled", "yes"}, s.answered())
}

// A connection that breaks is made again, and catches up with what it missed.
func TestReconnects(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	gone := s.ask(shell("make"))
	s.ask(shell("make install"))
	w.until(`document.querySelectorAll(".card").length === 2`)
	s.disconnect()
	w.shows("#connection", "Not connected: the next try is in")
	require.NoError(t, s.store.Resolve(gone, answer{Choice: "deny"}.pending(), someone))
	s.ask(shell("make clean"))
	s.connect()
	w.connected()
	w.shows(".card", "It ended while this page was not connected")
	w.shows(".card:nth-child(3)", "make clean")
	w.settled(".card:nth-child(2)")
	w.click(".card:nth-child(2) .allow_once")
	w.shows(".card:nth-child(2)", "Answered: Allow once, by you")
	assert.Equal(t, []string{"no", "yes"}, s.answered())
}

func TestADeletedTokenIsAskedForAnew(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	s.gateway.DropToken("desk")
	w.shows("#token-problem", "The token was deleted")
	assert.Zero(t, eval[int](w, "sessionStorage.length"))
	w.until(`document.activeElement.id === "token"`)
	w.keys("http://" + s.address + "/#token=phone\r") // the whole address does, too
	w.shows("#connection", "Connected as phone")
}

// Of what the person before could see nothing stays in the tab.
func TestAnotherTokenInTheTab(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	key := s.ask(shell("make secret"))
	w.shows(".card", "make secret")
	w.run(`location.hash = "#token=s3cret"`)
	w.connected()
	w.shows(".card", "make secret") // it is still open
	require.NoError(t, s.store.Resolve(key, answer{Choice: "deny"}.pending(), someone))
	w.shows(".card", "by ada")
	w.run(`location.hash = "#token=phone"`)
	w.shows("#connection", "Connected as phone")
	assert.NotContains(t, eval[string](w, "document.documentElement.textContent"), "make secret")
	assert.Empty(t, eval[string](w, "location.hash"))
}

func TestTheTokenLeavesTheAddress(t *testing.T) {
	s := begin(t)
	w := s.enter("s3cret")
	assert.Equal(t, "http://"+s.address+"/", eval[string](w, "location.href"))
	assert.Equal(t, "s3cret", eval[string](w, `sessionStorage.getItem("assent-token")`))
	assert.Empty(t, eval[string](w, "document.cookie + JSON.stringify(localStorage).slice(1, -1)"), "it is nowhere else")
	require.NoError(t, chromedp.Do(w.ctx, chromedp.Reload()))
	w.connected()
	w.click("#forget")
	w.until(`!document.getElementById("door").hidden && sessionStorage.length === 0`)
}

func TestATokenIsPasted(t *testing.T) {
	s := begin(t)
	w := open(t)
	w.visit("http://" + s.address + "/")
	w.until(`document.activeElement.id === "token"`)
	w.keys("wrong\r")
	w.shows("#token-problem", "The token is unknown")
	assert.Empty(t, eval[string](w, `sessionStorage.getItem("assent-token") ?? ""`))
	w.until(`document.activeElement.id === "token"`)
	w.keys("s3cret\r")
	w.connected()
}

// What a token may not do has no button.
func TestATokenThatMayOnlyLook(t *testing.T) {
	s := begin(t)
	s.state.Questions = []question{{ID: "q1", Task: "t1", Text: "Which one?", Options: []string{"a"}}}
	wall, desk := s.enter("wall"), s.enter("s3cret")
	s.ask(shell("make"))
	for _, w := range []*window{wall, desk} {
		w.shows(".card", "make")
		w.click("#tasks summary")
		w.until(`document.querySelector("#tasks details").open`)
	}
	seen := func(w *window) (n int) {
		return eval[int](w, `[...document.querySelectorAll("#desk button:not(#forget):not(.ident button), #desk form")].filter((e) => e.checkVisibility()).length`)
	}
	assert.Zero(t, seen(wall))
	assert.NotZero(t, seen(desk))
	assert.Contains(t, wall.text("#may-not-answer"), "may look, but not answer")
	wall.run(`document.querySelector(".card").focus()`)
	wall.keys("1d")
	desk.settled(".card")
	desk.click(".card .reject_once")
	wall.shows(".card", "Answered: Reject once, by desk (page)")
	assert.Equal(t, []string{"no"}, s.answered())
}

// A token without view gets nothing, and is told why.
func TestATokenThatMayNotLook(t *testing.T) {
	s := begin(t)
	s.tokens["blind"] = dispatch.Person{Name: "blind", Scopes: dispatch.Scopes{dispatch.ScopeAnswer}}
	w := open(t)
	w.visit("http://" + s.address + "/#token=blind")
	w.shows("#token-problem", "does not have the scope view")
}
