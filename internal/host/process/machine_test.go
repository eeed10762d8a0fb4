package process

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/kandev/assent/internal/host/pending"
)

// An offer in the model.
type modelOffer struct {
	of      *wired
	id      string
	key     pending.Key
	expires time.Time
	over    bool
	frame   string // what the agent must have got: "" for nothing, "?" for one answer of any kind
}

// model is what the store and the manager are compared with.
type model struct {
	t       *testing.T
	stage   *stage
	current *wired
	offers  []*modelOffer
	problem error
}

type step struct{ kind, a, b int }

const modelExpiry = time.Hour

var (
	modelIDs      = []string{`1`, `"1"`, `2`, `"x"`, `0`}
	modelSessions = []string{"s1", "s2", "of-a-sub-agent"}
)

// modelAnswers are answers and what they send; "" leaves an open offer open.
var modelAnswers = []struct {
	answer pending.Answer
	frame  string
}{
	{pending.Allow(), "selected a"}, {pending.Deny(), "selected r"}, {pending.Select("w"), "selected w"},
	{pending.Cancel(), "cancelled"}, {pending.Select("nope"), ""}, {pending.Answer{}, ""},
}

// However offers are made, answered by many, cancelled, withdrawn, left to expire,
// and their agents stopped and killed: each gets exactly one answer frame, and none
// after its agent has gone.
func TestOneOfferOneAnswerFrame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{rapid.IntRange(0, len(moves)-1).Draw(t, "kind"), rapid.IntRange(0, 1000).Draw(t, "a"), rapid.IntRange(0, 1000).Draw(t, "b")}
		}), 1, 60).Draw(rt, "steps")
		var problem error
		synctest.Test(t, func(t *testing.T) { problem = play(t, steps) })
		if problem != nil {
			rt.Fatal(problem)
		}
	})
}

func play(t *testing.T, steps []step) error {
	s := newStage(t, "", func(o *Options, _ *Launch) {
		o.Store = pending.New(pending.Config{Expiry: pending.Expiry{After: modelExpiry}})
	})
	s.store.Attach(pending.Scope{})
	m := &model{t: t, stage: s, current: s.wire(t)}
	for n, step := range append(steps, step{kind: stopMove}) {
		moves[step.kind](m, step)
		synctest.Wait()
		m.check()
		if m.problem != nil {
			return fmt.Errorf("step %d, move %d: %w", n, step.kind, m.problem)
		}
	}
	return nil
}

// moves are what can happen. Offers are made more often than the rest.
var moves = []func(*model, step){
	(*model).offer, (*model).offer, (*model).offer, (*model).offer,
	(*model).resolve, (*model).resolve, (*model).resolveByMany, (*model).resolveOrCancel,
	(*model).mismatch, (*model).cancel, (*model).withdraw, (*model).wait, (*model).kill, (*model).stop,
}

const stopMove = 13

func (m *model) fail(format string, args ...any) {
	if m.problem == nil {
		m.problem = fmt.Errorf(format, args...)
	}
}

func (m *model) offer(s step) {
	id, session := modelIDs[s.a%len(modelIDs)], modelSessions[s.b%len(modelSessions)]
	m.current.send(plainOffer(id, session, "same", threeOptions))
	synctest.Wait()
	select {
	case q := <-m.stage.questions:
		m.offers = append(m.offers, &modelOffer{of: m.current, id: id, key: q.Key, expires: time.Now().Add(modelExpiry)})
	default:
		m.fail("nobody was asked")
	}
}

// pick is any offer there ever was.
func (m *model) pick(s step) *modelOffer {
	if len(m.offers) == 0 {
		return nil
	}
	return m.offers[s.a%len(m.offers)]
}

func (m *model) resolve(s step) {
	o, a := m.pick(s), modelAnswers[s.b%len(modelAnswers)]
	if o == nil {
		return
	}
	err := m.stage.store.Resolve(o.key, a.answer, tester)
	switch {
	case o.over || a.frame == "":
		if err == nil {
			m.fail("an answer was taken that could not be")
		}
	case err != nil:
		m.fail("an answer was not taken: %w", err)
	default:
		o.over, o.frame = true, a.frame
	}
}

func (m *model) resolveByMany(s step) {
	o := m.pick(s)
	if o == nil {
		return
	}
	errs := make([]error, 8)
	var all sync.WaitGroup
	for n := range errs {
		all.Go(func() { errs[n] = m.stage.store.Resolve(o.key, modelAnswers[(s.b+n)%4].answer, tester) })
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		}
	}
	want := 1
	if o.over {
		want = 0
	}
	if won != want {
		m.fail("%d of 8 answers were taken, want %d", won, want)
	}
	if !o.over {
		o.over, o.frame = true, "?"
	}
}

// resolveOrCancel answers an offer while its session is being cancelled.
func (m *model) resolveOrCancel(s step) {
	o := m.pick(s)
	if o == nil || o.of != m.current {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { _ = m.stage.store.Resolve(o.key, pending.Allow(), tester) })
	both.Go(func() { _ = m.current.instance.CancelSession(o.key.Session) })
	both.Wait()
	for _, each := range m.offers {
		if each.of == m.current && each.key.Session == o.key.Session && !each.over {
			each.over, each.frame = true, "cancelled"
			if each == o {
				each.frame = "?"
			}
		}
	}
}

func (m *model) mismatch(s step) {
	o := m.pick(s)
	if o == nil {
		return
	}
	key := o.key
	if key.Session += "x"; s.b%2 == 0 {
		key = pending.Key{Instance: o.key.Instance + "0", Session: o.key.Session, Request: o.key.Request}
	}
	if err := m.stage.store.Resolve(key, pending.Allow(), tester); !errors.Is(err, pending.ErrMismatch) {
		m.fail("a mixed key got %w", err)
	}
}

func (m *model) cancel(s step) {
	session := modelSessions[s.a%len(modelSessions)]
	if err := m.current.instance.CancelSession(session); err != nil {
		m.fail("cancel: %w", err)
	}
	m.end("cancelled", func(o *modelOffer) bool { return o.key.Session == session })
}

func (m *model) withdraw(s step) {
	id := modelIDs[s.a%len(modelIDs)]
	m.current.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":` + id + `}}`)
	m.end("cancelled", func(o *modelOffer) bool { return o.id == id })
}

func (m *model) wait(s step) {
	time.Sleep(time.Duration(s.a) * time.Minute / 10)
	synctest.Wait()
	m.end("cancelled", func(o *modelOffer) bool { return !o.expires.After(time.Now()) })
}

func (m *model) kill(step) {
	m.current.end(false)
	m.end("", func(*modelOffer) bool { return true })
	m.current = m.stage.wire(m.t)
}

func (m *model) stop(step) {
	m.current.end(true)
	m.end("cancelled", func(*modelOffer) bool { return true })
	m.current = m.stage.wire(m.t)
}

// end ends open offers of the current agent.
func (m *model) end(frame string, which func(*modelOffer) bool) {
	for _, o := range m.offers {
		if o.of == m.current && !o.over && which(o) {
			o.over, o.frame = true, frame
		}
	}
}

// check compares the wires and the store with the model.
func (m *model) check() {
	var open []pending.Key
	want, answers := map[*wired]map[string][]string{m.current: {}}, 0
	for _, o := range m.offers {
		if want[o.of] == nil {
			want[o.of] = map[string][]string{}
		}
		switch {
		case !o.over:
			open = append(open, o.key)
		case o.frame != "":
			want[o.of][o.id] = append(want[o.of][o.id], o.frame)
		}
		if o.over {
			answers++
		}
	}
	var listed []pending.Key
	for _, s := range m.stage.store.List(pending.Query{}) {
		listed = append(listed, s.Key)
	}
	if !slices.Equal(open, listed) {
		m.fail("open are %v, listed are %v", open, listed)
	}
	if len(m.stage.answered) != answers {
		m.fail("%d ends were reported, want %d", len(m.stage.answered), answers)
	}
	for w, byID := range want {
		m.frames(byID, w.frames())
	}
}

// frames compares what one agent got. Offers with one id can be answered in any
// order.
func (m *model) frames(want, got map[string][]string) {
	if len(want) != len(got) {
		m.fail("answered are %v, want %v", got, want)
		return
	}
	for id, frames := range want {
		left := slices.Clone(got[id])
		unknown := 0
		for _, frame := range frames {
			at := slices.Index(left, frame)
			if at < 0 && frame == "?" {
				unknown++
				continue
			}
			if at < 0 {
				m.fail("offer %s got %v, want %v", id, got[id], frames)
				return
			}
			left = slices.Delete(left, at, at+1)
		}
		if len(left) != unknown {
			m.fail("offer %s got %v, want %v", id, got[id], frames)
		}
	}
}
