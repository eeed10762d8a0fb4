package pending

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
)

func TestL01_CancelAnswersAtOnce(t *testing.T) {
	s, w := newStore(t), &wire{}
	register(t, s, offer("i", "s", "1", w))
	assert.Equal(t, 1, s.CancelSession("i", "s"))
	assert.Equal(t, pipeline.Cancel, w.last(t).Verdict)
	assert.Equal(t, ReasonSessionCancelled, w.last(t).Reason)
	assert.Empty(t, listed(s))
}

func TestL02_CancelReachesNoNeighbour(t *testing.T) {
	s, w, other := newStore(t), &wire{}, &wire{}
	register(t, s, offer("i", "s", "1", w))
	register(t, s, offer("i", "s", "2", w))
	same := register(t, s, offer("i", "s2", "3", other))
	twin := register(t, s, offer("i2", "s", "1", other))
	assert.Equal(t, 2, s.CancelSession("i", "s"))
	assert.Len(t, w.sent(), 2)
	assert.Empty(t, other.sent())
	assert.Equal(t, []Key{same, twin}, listed(s))
	assert.Zero(t, s.CancelSession("i", "s"), "twice")
	assert.Zero(t, s.CancelSession("nobody", "s"))
}

func TestL03_AfterACancelTheSessionGoesOn(t *testing.T) {
	s, w := newStore(t), &wire{}
	old := register(t, s, offer("i", "s", "1", w))
	s.CancelSession("i", "s")
	key := register(t, s, offer("i", "s", "1", w))
	assert.Equal(t, []Key{key}, listed(s))
	fails(t, s, old, Allow(), Error{Code: CodeStale, Reason: ReasonSessionCancelled})
	resolves(t, s, key, Allow())
}

func TestL04_TheAgentIsGone(t *testing.T) {
	s, w, other := newStore(t), &wire{broken: true}, &wire{}
	key := register(t, s, offer("old", "s", "1", w))
	next := register(t, s, offer("new", "s", "1", other))
	assert.Equal(t, 1, s.DropInstance("old"))
	assert.Equal(t, []Key{next}, listed(s), "its successor keeps its own")
	assert.Equal(t, ReasonInstanceGone, w.last(t).Reason)
	fails(t, s, key, Allow(), Error{Code: CodeStale, Reason: ReasonInstanceGone})

	// A line that was still in the pipe.
	late := &wire{}
	_, err := s.Register(offer("old", "s", "2", late))
	assert.Equal(t, Error{Code: CodeStale, Reason: ReasonInstanceGone}, err)
	assert.Equal(t, pipeline.Cancel, late.last(t).Verdict)
	assert.Zero(t, s.DropInstance("old"), "twice")
	assert.Equal(t, []Key{next}, listed(s))
}

func TestL05_AnIDOfYesterday(t *testing.T) {
	w := &wire{}
	yesterday := New(Config{})
	key := register(t, yesterday, offer("i", "s", "1", w))
	yesterday.Close()
	require.Len(t, w.sent(), 1)

	s, today := newStore(t), &wire{}
	open := register(t, s, offer("i", "s", "1", today))
	assert.NotEqual(t, key, open)
	fails(t, s, key, Allow(), ErrNotFound)
	assert.Empty(t, today.sent())
	assert.Equal(t, []Key{open}, listed(s))
	fails(t, yesterday, key, Allow(), Error{Code: CodeStale, Reason: ReasonClosed})
}

func TestL06_FiftyAnswersOneWins(t *testing.T) {
	s, w := newStore(t), &wire{}
	key := register(t, s, offer("i", "s", "1", w))
	errs := make(chan error, 50)
	var start, done sync.WaitGroup
	start.Add(1)
	for range 50 {
		done.Go(func() {
			start.Wait()
			errs <- s.Resolve(key, Select("allow-once"), someone)
		})
	}
	start.Done()
	done.Wait()
	close(errs)
	won := 0
	for err := range errs {
		if err == nil {
			won++
			continue
		}
		assert.Equal(t, Error{Code: CodeAlreadyResolved, Same: true}, err)
	}
	assert.Equal(t, 1, won)
	assert.Equal(t, "allow-once", w.last(t).OptionID)
}

func TestL07_ARetryIsDone(t *testing.T) {
	for name, test := range map[string]struct {
		first, second Answer
		same          bool
	}{
		"the same option":              {Select("always"), Select("always"), true},
		"another option":               {Select("always"), Select("reject"), false},
		"allow twice":                  {Allow(), Allow(), true},
		"deny twice":                   {Deny(), Deny(), true},
		"cancel twice":                 {Cancel(), Cancel(), true},
		"cancel, then deny":            {Cancel(), Deny(), false},
		"allow, then deny":             {Allow(), Deny(), false},
		"deny, then allow":             {Deny(), Allow(), false},
		"allow, then what it chose":    {Allow(), Select("allow-once"), true},
		"deny, then what it chose":     {Deny(), Select("reject"), true},
		"an option, then allow":        {Select("allow-once"), Allow(), false}, // what allow means now is forgotten
		"an option that never existed": {Allow(), Select("nope"), false},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := newStore(t), &wire{}
			key := register(t, s, offer("i", "s", "1", w))
			resolves(t, s, key, test.first)
			fails(t, s, key, test.second, Error{Code: CodeAlreadyResolved, Same: test.same})
			assert.Len(t, w.sent(), 1)
		})
	}
}

func TestL08_APromptSwappedUnderTheFinger(t *testing.T) {
	s, w1, w2 := newStore(t), &wire{}, &wire{}
	first := register(t, s, offer("i", "s", "1", w1))
	second := register(t, s, offer("i", "s", "1", w2)) // with the JSON-RPC id and call id of the first
	resolves(t, s, first, Allow())
	assert.Len(t, w1.sent(), 1)
	assert.Empty(t, w2.sent())
	assert.Equal(t, []Key{second}, listed(s))
}

func TestL09_OneCallIDInTwoSessions(t *testing.T) {
	s, parent, child := newStore(t), &wire{}, &wire{}
	a := register(t, s, offer("i", "parent", "1", parent))
	b := register(t, s, offer("i", "child", "2", child))
	resolves(t, s, a, Allow())
	assert.Len(t, parent.sent(), 1)
	assert.Empty(t, child.sent())
	for _, mixed := range []Key{
		{Instance: "i", Session: "parent", Request: b.Request},
		{Instance: "other", Session: "child", Request: b.Request},
		{Instance: "i", Session: "child", Request: a.Request}, // an ended one
		{Instance: "i", Session: "child ", Request: b.Request},
		{Instance: "i", Session: "Child", Request: b.Request},
		{Instance: "I", Session: "child", Request: b.Request},
		{Session: "child", Request: b.Request},
	} {
		fails(t, s, mixed, Allow(), ErrMismatch)
	}
	assert.Equal(t, []Key{b}, listed(s))
	assert.Empty(t, child.sent())
}

func TestL10_ABurst(t *testing.T) {
	for _, n := range []int{7, 1000} {
		s, w := newStore(t), &wire{}
		var keys []Key
		for i := range n {
			keys = append(keys, register(t, s, offer("i", "s", fmt.Sprint(i), w)))
		}
		assert.Equal(t, keys, listed(s))
		for _, key := range keys {
			resolves(t, s, key, Allow())
		}
		assert.Len(t, w.sent(), n)
		assert.Empty(t, listed(s))
	}
}

func TestL10_MemoryOfABurstIsBounded(t *testing.T) {
	s := watched(t, Config{MaxOpen: 10, MaxOpenPerInstance: 6})
	w, refused, other := &wire{}, &wire{}, &wire{}
	for i := range 6 {
		register(t, s, offer("i", "s", fmt.Sprint(i), w))
	}
	_, err := s.Register(offer("i", "s", "7", refused))
	assert.Equal(t, Error{Code: CodeTooManyOpen, Reason: ReasonTooManyOpen}, err)
	assert.Equal(t, Outcome{
		Key: Key{Instance: "i", Session: "s"}, Verdict: pipeline.Cancel, Option: -1, Reason: ReasonTooManyOpen,
	}, refused.last(t))
	for i := range 4 {
		register(t, s, offer("i2", "s", fmt.Sprint(i), other))
	}
	_, err = s.Register(offer("i3", "s", "1", refused))
	assert.ErrorIs(t, err, ErrTooManyOpen)
	assert.Equal(t, 10, s.Len())
	s.CancelSession("i", "s")
	register(t, s, offer("i", "s", "8", w))
}

func TestL11_ASessionNobodyAnnounced(t *testing.T) {
	s, w := newStore(t), &wire{}
	o := offer("i", "sub-agent", "1", w)
	o.Request.Session = pipeline.Session{}
	key := register(t, s, o)
	assert.Equal(t, "sub-agent", s.List(Query{})[0].Session)
	resolves(t, s, key, Deny())
}

func TestL13_NoSurface(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := New(Config{}), &wire{}
		defer s.Close()
		key := register(t, s, offer("i", "s", "1", w))
		time.Sleep(DefaultUnseen - time.Nanosecond)
		synctest.Wait()
		assert.Empty(t, w.sent())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		assert.Equal(t, pipeline.Cancel, w.last(t).Verdict)
		assert.Equal(t, ReasonNoSurface, w.last(t).Reason)
		assert.Equal(t, DefaultUnseen, w.last(t).Waited)
		fails(t, s, key, Allow(), Error{Code: CodeExpired, Reason: ReasonNoSurface})

		s.Attach(Scope{}) // attached, and perhaps gone again
		w2 := &wire{}
		key = register(t, s, offer("i", "s", "2", w2))
		time.Sleep(100 * time.Hour)
		synctest.Wait()
		assert.Equal(t, []Key{key}, listed(s))
		resolves(t, s, key, Allow())
	})
}

func TestL13_ASurfaceThatComesInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := New(Config{Unseen: time.Minute}), &wire{}
		defer s.Close()
		key := register(t, s, offer("i", "s", "1", w))
		time.Sleep(59 * time.Second)
		s.Attach(Scope{Instance: "i"})
		time.Sleep(100 * time.Hour)
		synctest.Wait()
		assert.Equal(t, []Key{key}, listed(s))
	})
}

func TestL13_ASurfaceThatCannotShowIt(t *testing.T) {
	for name, test := range map[string]struct {
		scope Scope
		waits bool
	}{
		"all":                       {Scope{}, true},
		"its instance":              {Scope{Instance: "i"}, true},
		"its session":               {Scope{Instance: "i", Session: "s"}, true},
		"its session, any instance": {Scope{Session: "s"}, true},
		"another instance":          {Scope{Instance: "other"}, false},
		"another session":           {Scope{Instance: "i", Session: "other"}, false},
		"a session of another one":  {Scope{Instance: "other", Session: "s"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, w := New(Config{}), &wire{}
				defer s.Close()
				s.Attach(test.scope)
				register(t, s, offer("i", "s", "1", w))
				time.Sleep(time.Hour)
				synctest.Wait()
				assert.Equal(t, test.waits, s.Len() == 1)
				assert.Equal(t, test.waits, len(w.sent()) == 0)
			})
		})
	}
}

func TestL14_NoExpiryAndOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newStore(t), &wire{}
		key := register(t, s, offer("i", "s", "1", w))
		limited := &wire{}
		o := offer("i", "s", "2", limited)
		o.Expiry = Expiry{After: time.Hour, Reject: true}
		register(t, s, o)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		assert.Equal(t, []Key{key}, listed(s))
		assert.Equal(t, pipeline.Select, limited.last(t).Verdict)
		assert.Equal(t, "reject", limited.last(t).OptionID)
		assert.Equal(t, ReasonExpired, limited.last(t).Reason)
		assert.Equal(t, time.Hour, limited.last(t).Waited)
		resolves(t, s, key, Allow())
		assert.Equal(t, 2*time.Hour, w.last(t).Waited)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		assert.Len(t, limited.sent(), 1)
	})
}

func TestL14_OutcomesOfAnExpiry(t *testing.T) {
	twins := []pipeline.Option{{ID: "a", Kind: pipeline.AllowOnce}, {ID: "r1", Kind: pipeline.RejectOnce}, {ID: "r2", Kind: pipeline.RejectOnce}}
	for name, test := range map[string]struct {
		config, own Expiry
		options     []pipeline.Option
		open        bool
		option      string
	}{
		"none":                         {open: true},
		"the store's":                  {config: Expiry{After: time.Minute}},
		"the store's, reject":          {config: Expiry{After: time.Minute, Reject: true}, option: "reject"},
		"its own instead":              {config: Expiry{After: time.Hour}, own: Expiry{After: time.Minute}},
		"its own: never":               {config: Expiry{After: time.Minute}, own: Expiry{After: -1}, open: true},
		"reject, none offered":         {own: Expiry{After: time.Minute, Reject: true}, options: allowOnly},
		"reject, two are equal":        {own: Expiry{After: time.Minute, Reject: true}, options: twins},
		"cancel, although one offered": {own: Expiry{After: time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, w := watched(t, Config{Expiry: test.config}), &wire{}
				o := offer("i", "s", "1", w, test.options...)
				o.Expiry = test.own
				register(t, s, o)
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				assert.Equal(t, test.open, s.Len() == 1)
				if !test.open {
					assert.Equal(t, test.option, w.last(t).OptionID)
					assert.Equal(t, test.option != "", w.last(t).Verdict == pipeline.Select)
				}
			})
		})
	}
}

func TestL15_AfterTheExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := watched(t, Config{Expiry: Expiry{After: time.Minute}}), &wire{}
		key := register(t, s, offer("i", "s", "1", w))
		time.Sleep(time.Minute)
		synctest.Wait()
		fails(t, s, key, Allow(), Error{Code: CodeExpired, Reason: ReasonExpired})
		assert.Len(t, w.sent(), 1)
	})
}

func TestL16_AnsweredIsNeverListedAgain(t *testing.T) {
	s, w := newStore(t), &wire{}
	key := register(t, s, offer("i", "s", "1", w))
	resolves(t, s, key, Allow())
	s.CancelSession("i", "s") // the turn ends
	assert.Zero(t, s.Withdraw("i", offer("i", "s", "1", w).ID))
	assert.Empty(t, listed(s))
	_, err := s.Get(key)
	assert.ErrorIs(t, err, ErrAlreadyResolved)
	assert.Len(t, w.sent(), 1)
}

func TestL17_WhatIsDecidedNeverWaits(t *testing.T) {
	s, w := newStore(t), &wire{}
	events, stop := s.Watch(8)
	defer stop()
	for _, verdict := range []pipeline.Verdict{pipeline.Select, pipeline.Cancel, pipeline.Continue, 42} {
		o := offer("i", "s", "1", w)
		o.Result.Decision.Verdict = verdict
		_, err := s.Register(o)
		assert.Equal(t, ErrDecided, err)
	}
	assert.Empty(t, listed(s))
	assert.Empty(t, events)
	assert.Empty(t, w.sent(), "the decision is answered by whoever made it")
}
