package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/pipeline"
)

// people are how many answer at the same time, each what they like.
const people = 3

// crowd answers what waits until stop is called.
func (s *soak) crowd() (stop func()) {
	s.store.Attach(pending.Scope{})
	var all sync.WaitGroup
	var leave []func()
	for n := range people {
		events, unwatch := s.store.Watch(256)
		leave = append(leave, unwatch)
		p := person{soak: s, random: rand.New(rand.NewPCG(s.options.Seed, uint64(1000+n)))}
		all.Go(func() { p.answerAll(events) })
	}
	return func() {
		for _, f := range leave {
			f()
		}
		all.Wait()
	}
}

// person is one of them.
type person struct {
	soak   *soak
	random *rand.Rand
	later  []pending.Snapshot // looked at, not answered yet
}

// maxLater is how much a person puts off.
const maxLater = 40

// answerAll answers until there are no more events. Half of what opens is put off
// until nothing else happens.
func (p *person) answerAll(events <-chan pending.Event) {
	for {
		var e pending.Event
		var more bool
		select {
		case e, more = <-events:
		default:
			p.catchUp()
			e, more = <-events
		}
		switch {
		case !more:
			return
		case e.Kind == pending.Lagged:
			p.later = append(p.later, p.soak.store.List(pending.Query{})...)
			p.catchUp()
		case e.Kind == pending.Opened && p.random.IntN(2) == 0:
			p.answer(e.Snapshot)
		case e.Kind == pending.Opened:
			p.later = append(p.later, e.Snapshot)
		}
		if len(p.later) > maxLater {
			p.catchUp()
		}
	}
}

// catchUp answers what was put off.
func (p *person) catchUp() {
	for _, s := range p.later {
		p.answer(s)
	}
	p.later = p.later[:0]
}

// answer says something at random, and something that counts if that did not.
func (p *person) answer(s pending.Snapshot) {
	if p.random.IntN(16) == 0 {
		_, _ = p.soak.store.Detail(s.Key) // it may have ended
	}
	key, answer := s.Key, pending.Answer{}
	switch p.random.IntN(8) {
	case 0, 1:
		answer = pending.Allow()
	case 2, 3:
		answer = pending.Deny()
	case 4:
		answer = pending.Cancel()
	case 5:
		answer = pending.Select("no such option")
	case 6:
		key.Session += "x"
		answer = pending.Allow()
	default:
		answer = p.option(s)
	}
	if p.say(key, answer) {
		p.say(s.Key, p.option(s))
	}
}

// option is one of those that were offered.
func (p *person) option(s pending.Snapshot) pending.Answer {
	if s.Options.Len() == 0 {
		return pending.Cancel()
	}
	return pending.Select(s.Options.At(p.random.IntN(s.Options.Len())).ID)
}

// say gives an answer. It says whether the offer may still be open.
func (p *person) say(key pending.Key, a pending.Answer) (open bool) {
	err := p.soak.store.Resolve(key, a, pending.Responder{Name: "somebody", Surface: "soak"})
	if err == nil {
		p.soak.totals.reply("it counts")
		return false
	}
	refused, ok := errors.AsType[pending.Error](err)
	if !ok {
		p.soak.totals.violation("an answer got an error of another kind")
		return false
	}
	p.soak.totals.reply(string(refused.Code))
	switch refused.Code {
	case pending.CodeOptionRequired, pending.CodeOptionNotOffered, pending.CodeMismatch:
		return true
	}
	return false
}

// watcher tells the wires what the host says of its offers.
type watcher struct{ *soak }

// Updated implements [process.Watcher].
func (watcher) Updated(context.Context, process.Update) {}

// Decided implements [process.Watcher].
func (w watcher) Decided(_ context.Context, d process.Decided) {
	if d.Result.Decision.Verdict == pipeline.Select {
		w.totals.ending("automatic: " + string(d.Result.Decision.Reason))
	}
}

// Asked implements [process.Watcher].
func (w watcher) Asked(_ context.Context, q process.Question) {
	if wire := w.wireOf(q.Instance); wire != nil {
		wire.waits(q.Session, q.ToolCall)
	}
}

// Fired implements [process.NetWatcher]. An agent that was cancelled or stopped
// does not make the calls that it was just allowed, so the tripwire may fire; the
// demo agent always lists the tools, so no other net may.
func (w watcher) Fired(_ context.Context, f process.Fired) {
	w.totals.ending("a net fired: " + string(f.Reason))
	if wire := w.wireOf(f.Instance); f.Net != audit.Tripwire || wire == nil || wire.behaved() {
		w.totals.violation(fmt.Sprintf("a net fired for no reason: %s (%s)", f.Net, f.Reason))
	}
}

// Unasked implements [process.NetWatcher]. The demo agent always asks, but a call
// that is on its way when its turn is cancelled can arrive after its own end.
func (w watcher) Unasked(_ context.Context, u process.Unasked) {
	w.totals.ending("a call arrived late")
	if wire := w.wireOf(u.Instance); wire == nil || wire.behaved() {
		w.totals.violation("a call is said to be unasked")
	}
}

// Answered implements [process.Watcher].
func (w watcher) Answered(_ context.Context, a process.Answered) {
	how := string(a.Outcome.Reason)
	if !a.Sent {
		how += ", nobody left to be told"
	}
	w.totals.ending(how)
}
