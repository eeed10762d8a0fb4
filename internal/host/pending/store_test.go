package pending

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// Every way to end an offer, and what an answer that comes too late is told.
func TestLateAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		end    func(s *Store, key Key)
		want   Error
		reason pipeline.Reason // of the outcome
	}{
		"answered": {
			func(s *Store, key Key) { _ = s.Resolve(key, Select("always"), someone) },
			Error{Code: CodeAlreadyResolved}, ReasonSelected,
		},
		"session cancelled": {
			func(s *Store, key Key) { s.CancelSession(key.Instance, key.Session) },
			Error{Code: CodeStale, Reason: ReasonSessionCancelled}, ReasonSessionCancelled,
		},
		"withdrawn": {
			func(s *Store, key Key) { s.Withdraw(key.Instance, acp.NewID("1")) },
			Error{Code: CodeWithdrawn, Reason: ReasonWithdrawn}, ReasonWithdrawn,
		},
		"agent gone": {
			func(s *Store, key Key) { s.DropInstance(key.Instance) },
			Error{Code: CodeStale, Reason: ReasonInstanceGone}, ReasonInstanceGone,
		},
		"closed": {
			func(s *Store, _ Key) { s.Close() },
			Error{Code: CodeStale, Reason: ReasonClosed}, ReasonClosed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := newStore(t), &wire{}
			key := register(t, s, offer("i", "s", "1", w))
			test.end(s, key)
			fails(t, s, key, Allow(), test.want)
			_, err := s.Get(key)
			assert.Equal(t, test.want, err)
			_, err = s.Detail(key)
			assert.Equal(t, test.want, err)
			assert.Equal(t, test.reason, w.last(t).Reason)
			assert.Zero(t, s.Len())
			fails(t, s, Key{"other", "s", key.Request}, Allow(), ErrMismatch)
		})
	}
}

func TestRequestIDsHaveOneSpelling(t *testing.T) {
	s, w := newStore(t), &wire{}
	key := register(t, s, offer("i", "s", "1", w))
	id, other := string(key.Request), register(t, newStore(t), offer("i", "s", "1", w))
	spellings := []string{"", id + "a", id + " ", " " + id, id[1:], id[:len(id)-1] + "\n", strings.ToUpper(id), id + id, "q" + id[1:], string(other.Request), string(s.id(2)), string(s.id(0)), "1"}
	for at := range id {
		for _, c := range "abcdefghijklmnopqrstuvwxyz234567\r" {
			if byte(c) != id[at] {
				spellings = append(spellings, id[:at]+string(c)+id[at+1:])
			}
		}
	}
	for _, id := range spellings {
		fails(t, s, Key{"i", "s", RequestID(id)}, Allow(), ErrNotFound)
	}
	assert.Empty(t, w.sent())
	resolves(t, s, key, Allow())
}

// Nobody learns from the ids of some offers that there are others.
func TestRequestIDsSayNothingOfOthers(t *testing.T) {
	s, w := newStore(t), &wire{}
	begins := map[RequestID]bool{}
	for n := range 100 {
		id := register(t, s, offer("i", "s", strconv.Itoa(n), w)).Request
		assert.Regexp(t, "^[a-z2-7]{13}$", id)
		begins[id[:8]] = true
	}
	assert.Len(t, begins, 100)
	var last uint64
	for _, snapshot := range s.List(Query{}) {
		assert.Greater(t, snapshot.Sequence, last, "their order is kept")
		last = snapshot.Sequence
	}
}

// Each number has one id, and is read from it again.
func TestRequestIDsAndNumbers(t *testing.T) {
	s, other := newStore(t), newStore(t)
	rapid.Check(t, func(t *rapid.T) {
		seq := rapid.Uint64().Draw(t, "seq")
		got, ok := s.sequence(s.id(seq))
		assert.True(t, ok)
		assert.Equal(t, seq, got)
		got, ok = other.sequence(s.id(seq))
		assert.True(t, ok)
		assert.NotEqual(t, seq, got, "another store reads another one")
	})
}

func TestIDsAreNeverUsedTwice(t *testing.T) {
	seen := map[RequestID]bool{}
	for range 5 {
		s, w := newStore(t), &wire{}
		for range 20 {
			key := register(t, s, offer("i", "s", "1", w))
			assert.False(t, seen[key.Request])
			seen[key.Request] = true
			resolves(t, s, key, Allow())
		}
	}
}

func TestWhatAnAnswerSelects(t *testing.T) {
	allow := func(id string) pipeline.Option { return pipeline.Option{ID: id, Kind: pipeline.AllowOnce} }
	always := func(id string) pipeline.Option { return pipeline.Option{ID: id, Kind: pipeline.AllowAlways} }
	reject := func(id string) pipeline.Option { return pipeline.Option{ID: id, Kind: pipeline.RejectOnce} }
	odd := func(id string) pipeline.Option { return pipeline.Option{ID: id, Kind: "allow_forever"} }
	required := func(reason pipeline.Reason) Error { return Error{Code: CodeOptionRequired, Reason: reason} }
	for name, test := range map[string]struct {
		options []pipeline.Option
		hint    pipeline.OptionHint
		answer  Answer
		want    int // -1: cancelled
		err     Error
	}{
		"allow: once before always":       {[]pipeline.Option{always("x"), allow("y"), reject("z")}, pipeline.OptionHint{}, Allow(), 1, Error{}},
		"allow: always for want of once":  {[]pipeline.Option{reject("z"), always("x")}, pipeline.OptionHint{}, Allow(), 1, Error{}},
		"allow: twins":                    {[]pipeline.Option{allow("x"), allow("y")}, pipeline.OptionHint{}, Allow(), 0, required(pipeline.ReasonTwinAllows)},
		"allow: twins with a hint":        {[]pipeline.Option{allow("x"), allow("y")}, pipeline.OptionHint{Allow: "y"}, Allow(), 1, Error{}},
		"allow: none":                     {[]pipeline.Option{reject("z"), odd("x")}, pipeline.OptionHint{}, Allow(), 0, required(pipeline.ReasonNoAllowOffered)},
		"allow: an id twice":              {[]pipeline.Option{allow("x"), reject("x")}, pipeline.OptionHint{}, Allow(), 0, required(pipeline.ReasonDuplicateOption)},
		"allow: an empty id":              {[]pipeline.Option{allow(""), reject("x")}, pipeline.OptionHint{}, Allow(), 0, required(pipeline.ReasonEmptyOptionID)},
		"deny: the reject":                {[]pipeline.Option{allow("x"), reject("z")}, pipeline.OptionHint{}, Deny(), 1, Error{}},
		"deny: none":                      {[]pipeline.Option{allow("x"), {ID: "n", Kind: pipeline.RejectAlways}}, pipeline.OptionHint{}, Deny(), -1, Error{}},
		"deny: twins":                     {[]pipeline.Option{allow("x"), reject("y"), reject("z")}, pipeline.OptionHint{}, Deny(), 0, required(pipeline.ReasonTwinRejects)},
		"deny: twins with a hint":         {[]pipeline.Option{allow("x"), reject("y"), reject("z")}, pipeline.OptionHint{Reject: "z"}, Deny(), 2, Error{}},
		"deny: an id twice":               {[]pipeline.Option{allow("x"), reject("x")}, pipeline.OptionHint{}, Deny(), -1, Error{}},
		"deny: an empty id":               {[]pipeline.Option{reject("")}, pipeline.OptionHint{}, Deny(), -1, Error{}},
		"an option named allow":           {[]pipeline.Option{reject("allow"), allow("deny")}, pipeline.OptionHint{}, Select("allow"), 0, Error{}},
		"an option named deny":            {[]pipeline.Option{reject("allow"), allow("deny")}, pipeline.OptionHint{}, Select("deny"), 1, Error{}},
		"allow is not the id":             {[]pipeline.Option{reject("allow"), allow("deny")}, pipeline.OptionHint{}, Allow(), 1, Error{}},
		"an empty id, by its id":          {[]pipeline.Option{reject("x"), allow("")}, pipeline.OptionHint{}, Select(""), 1, Error{}},
		"an unknown kind, by its id":      {[]pipeline.Option{odd("x")}, pipeline.OptionHint{}, Select("x"), 0, Error{}},
		"an id twice, of one kind":        {[]pipeline.Option{reject("x"), reject("x")}, pipeline.OptionHint{}, Select("x"), 0, Error{}},
		"an id twice, of two kinds":       {[]pipeline.Option{reject("x"), allow("x")}, pipeline.OptionHint{}, Select("x"), 0, required(ReasonAmbiguousOption)},
		"no answer":                       {[]pipeline.Option{allow("x")}, pipeline.OptionHint{}, Answer{}, 0, required(ReasonNoAnswer)},
		"no options":                      {[]pipeline.Option{}, pipeline.OptionHint{}, Deny(), -1, Error{}},
		"bytes that are no UTF-8":         {[]pipeline.Option{allow("\xff"), reject("\xfe")}, pipeline.OptionHint{}, Select("\xfe"), 1, Error{}},
		"a long id":                       {[]pipeline.Option{allow(strings.Repeat("a", 3000)), reject("b")}, pipeline.OptionHint{}, Select("b"), 1, Error{}},
		"an id with a NUL, to be exact":   {[]pipeline.Option{allow("a\x00"), reject("a")}, pipeline.OptionHint{}, Select("a"), 1, Error{}},
		"a kind that is allow with a NUL": {[]pipeline.Option{{ID: "x", Kind: "allow_once\x00"}}, pipeline.OptionHint{}, Allow(), 0, required(pipeline.ReasonNoAllowOffered)},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := newStore(t), &wire{}
			o := offer("i", "s", "1", w)
			o.Request.Options, o.Hint = test.options, test.hint
			key := register(t, s, o)
			if test.err != (Error{}) {
				fails(t, s, key, test.answer, test.err)
				assert.Equal(t, []Key{key}, listed(s))
				assert.Empty(t, w.sent())
				return
			}
			resolves(t, s, key, test.answer)
			got := w.last(t)
			assert.Equal(t, test.want, got.Option)
			assert.Equal(t, test.want >= 0, got.Verdict == pipeline.Select)
			if test.want >= 0 {
				assert.Equal(t, test.options[test.want].ID, got.OptionID)
			}
		})
	}
}

// A reason that this package does not know is no choice either.
func TestAnUnknownReasonIsNoChoice(t *testing.T) {
	i, reason := newChoice(0, "brand_new").index()
	assert.Equal(t, -1, i)
	assert.NotEqual(t, pipeline.ReasonOptionChosen, reason)
}

func TestOffersThatCannotWait(t *testing.T) {
	s, w := newStore(t), &wire{}
	for _, o := range []Offer{
		{}, {Instance: "i", Request: &pipeline.Request{}}, {Instance: "i", Deliver: w.deliver}, {Request: &pipeline.Request{}, Deliver: w.deliver},
	} {
		_, err := s.Register(o)
		assert.Equal(t, ErrIncomplete, err)
	}
	assert.Empty(t, w.sent())

	for name, o := range map[string]Offer{
		"a long session id": offer("i", strings.Repeat("s", maxText), "1", w),
		"a long option id":  offer("i", "s", "1", w, pipeline.Option{ID: strings.Repeat("x", maxText)}),
		"many options":      offer("i", "s", "1", w, make([]pipeline.Option, maxOptions+1)...),
		"a long JSON-RPC":   offer("i", "s", strings.Repeat("9", maxText), w),
	} {
		t.Run(name, func(t *testing.T) {
			w := &wire{}
			o.Deliver = w.deliver
			_, err := s.Register(o)
			assert.Equal(t, Error{Code: CodeTooLarge, Reason: ReasonTooLarge}, err)
			assert.Equal(t, pipeline.Cancel, w.last(t).Verdict)
			assert.Empty(t, listed(s))
		})
	}
	s.Close()
	_, err := s.Register(offer("i", "s", "1", w))
	assert.Equal(t, Error{Code: CodeClosed, Reason: ReasonClosed}, err)
	assert.Equal(t, ReasonClosed, w.last(t).Reason)
	s.Close() // twice does no harm
}

func TestAnAnswerThatCannotBeWritten(t *testing.T) {
	s, w := newStore(t), &wire{broken: true}
	key := register(t, s, offer("i", "s", "1", w))
	fails(t, s, key, Allow(), Error{Code: CodeStale, Reason: ReasonNotDelivered})
	fails(t, s, key, Allow(), Error{Code: CodeStale, Reason: ReasonNotDelivered})
	assert.Len(t, w.sent(), 1, "it is not tried again")
}

func TestWithdrawTakesAnIDThatWasUsedTwice(t *testing.T) {
	s, w, other := newStore(t), &wire{}, &wire{}
	register(t, s, offer("i", "s", "1", w))
	register(t, s, offer("i", "s2", "1", w))
	key := register(t, s, offer("i2", "s", "1", other))
	assert.Equal(t, 2, s.Withdraw("i", acp.NewID("1")))
	assert.Len(t, w.sent(), 2)
	assert.Equal(t, []Key{key}, listed(s))
}

func TestTombstonesAreBounded(t *testing.T) {
	s, w := watched(t, Config{Tombstones: 8}), &wire{}
	var keys []Key
	for range 20 {
		keys = append(keys, register(t, s, offer("i", "s", "1", w)))
		resolves(t, s, keys[len(keys)-1], Allow())
	}
	for i, key := range keys {
		want := Error{Code: CodeAlreadyResolved, Same: true}
		if i < 12 {
			want = ErrNotFound
		}
		fails(t, s, key, Allow(), want)
	}
	assert.Len(t, s.ended, 8)
	assert.Len(t, w.sent(), 20)
}

func TestGoneInstancesAreBounded(t *testing.T) {
	s := newStore(t)
	for i := range maxGone + 10 {
		s.DropInstance(InstanceID(fmt.Sprint(i)))
	}
	assert.Len(t, s.gone.ids, maxGone)
	assert.False(t, s.gone.has("9"))
	assert.True(t, s.gone.has("10"))
	assert.Empty(t, s.instances)
}

func TestScopesAreBounded(t *testing.T) {
	s := New(Config{})
	defer s.Close()
	for i := range maxScopes + 10 {
		s.Attach(Scope{Instance: InstanceID(fmt.Sprint(i))})
	}
	assert.Len(t, s.scopes, maxScopes)
	assert.True(t, s.everywhere, "beyond the bound offers wait")
	s.DropInstance("7")
	assert.Len(t, s.scopes, maxScopes-1)
}

// An agent that takes no answers holds up its own offers only.
func TestASlowAgentDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := watched(t, Config{Expiry: Expiry{After: time.Minute}}), &wire{}
		release := make(chan struct{})
		slow := offer("slow", "s", "1", w)
		slow.Deliver = func(Outcome) error { <-release; return nil }
		register(t, s, slow)
		time.Sleep(time.Second)
		register(t, s, offer("i", "s", "1", w))
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Len(t, w.sent(), 1)
		close(release)
	})
}

func TestCloseWaitsForTheTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watched(t, Config{Expiry: Expiry{After: time.Minute}})
		release, delivered := make(chan struct{}), false
		o := offer("i", "s", "1", &wire{})
		o.Deliver = func(Outcome) error { <-release; delivered = true; return nil }
		register(t, s, o)
		time.Sleep(time.Minute)
		synctest.Wait()
		go close(release)
		s.Close()
		assert.True(t, delivered)
	})
}

// The timer is set once for many offers, and again only for an earlier one.
func TestOneTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newStore(t), &wire{}
		for _, after := range []time.Duration{time.Hour, time.Minute, 2 * time.Hour, 30 * time.Minute} {
			o := offer("i", "s", "1", w)
			o.Expiry = Expiry{After: after}
			register(t, s, o)
		}
		key := register(t, s, offer("i", "s", "1", w))
		for _, want := range []time.Duration{time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour} {
			time.Sleep(want - time.Since(s.epoch))
			synctest.Wait()
			sent := w.sent()
			assert.Equal(t, want, sent[len(sent)-1].Waited)
		}
		s.mu.Lock()
		assert.Empty(t, s.due)
		assert.False(t, s.armed)
		s.mu.Unlock()
		assert.Equal(t, []Key{key}, listed(s))
	})
}

// The timer is set and fires at the same time, again and again.
func TestTheTimerUnderLoad(t *testing.T) {
	s := watched(t, Config{MaxOpenPerInstance: 5000})
	var wires [4000]wire
	var all sync.WaitGroup
	for part := range 4 {
		all.Go(func() {
			for i := part; i < len(wires); i += 4 {
				o := offer("i", "s", "1", &wires[i])
				o.Expiry = Expiry{After: time.Duration(1+(i*7919)%500) * time.Microsecond}
				_, err := s.Register(o)
				assert.NoError(t, err)
			}
		})
	}
	all.Wait()
	s.Close()
	for i := range wires {
		assert.Len(t, wires[i].sent(), 1)
	}
}

// Ends of all kinds at once: each offer is answered exactly once.
func TestManyWhoWouldLikeToWin(t *testing.T) {
	s := watched(t, Config{MaxOpenPerInstance: 5000})
	var wires [200]wire
	var keys [200]Key
	for i := range wires {
		keys[i] = register(t, s, offer(InstanceID(fmt.Sprint(i%4)), fmt.Sprint(i%8), fmt.Sprint(i), &wires[i]))
	}
	var all sync.WaitGroup
	for range 4 {
		for i := range keys {
			all.Go(func() { _ = s.Resolve(keys[i], Allow(), someone) })
		}
		all.Go(func() { s.CancelSession("1", "1") })
		all.Go(func() { s.DropInstance("2") })
		all.Go(func() { s.Withdraw("3", acp.NewID("7")) })
		all.Go(func() { s.List(Query{After: 50}) })
	}
	all.Go(s.Close)
	all.Wait()
	for i := range wires {
		assert.Len(t, wires[i].sent(), 1)
	}
}

func TestErrorTexts(t *testing.T) {
	seen := map[string]bool{}
	for _, err := range []Error{
		ErrStale, ErrAlreadyResolved, ErrExpired, ErrWithdrawn, ErrNotFound, ErrMismatch, ErrOptionNotOffered, ErrOptionRequired,
		ErrTooManyOpen, ErrTooLarge, ErrClosed, ErrDecided, ErrIncomplete,
	} {
		assert.True(t, strings.HasPrefix(err.Error(), "pending: "), err.Code)
		assert.NotContains(t, err.Error(), "unknown")
		assert.False(t, seen[err.Error()], err.Code)
		seen[err.Error()] = true
		detailed := Error{Code: err.Code, Reason: "why", Same: true}
		require.ErrorIs(t, fmt.Errorf("host: %w", detailed), err)
		assert.True(t, strings.HasSuffix(detailed.Error(), " (why)"))
	}
	assert.NotErrorIs(t, ErrStale, ErrExpired)
	assert.NotErrorIs(t, ErrStale, errors.New("stale"))
	assert.Equal(t, "pending: unknown error", Error{}.Error())
}
