package process

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/pipeline"
)

func TestL06_FiftyAnswersOneFrame(t *testing.T) {
	inBubble(t, pending.Config{}, func(t *testing.T, w *wired) {
		w.attach()
		q := w.open(t, "7", "s1", "c", threeOptions)
		errs := make(chan error, 50)
		start := make(chan struct{})
		var all sync.WaitGroup
		for n := range 50 {
			all.Go(func() {
				<-start
				errs <- w.store.Resolve(q.Key, pending.Select(q.Options[n%3].ID), tester)
			})
		}
		close(start)
		all.Wait()
		close(errs)
		won := 0
		for err := range errs {
			if err == nil {
				won++
				continue
			}
			assert.ErrorIs(t, err, pending.ErrAlreadyResolved)
		}
		synctest.Wait()
		assert.Equal(t, 1, won)
		assert.Len(t, w.frames()["7"], 1)
		assert.Len(t, w.answered, 1)
	})
}

func TestL07_ARetryIsDoneAndSendsNothing(t *testing.T) {
	inBubble(t, pending.Config{}, func(t *testing.T, w *wired) {
		w.attach()
		q := w.open(t, "1", "s1", "c", threeOptions)
		q.selects(t, 1)
		assert.Equal(t, pending.Error{Code: pending.CodeAlreadyResolved, Same: true}, w.store.Resolve(q.Key, pending.Select("w"), tester))
		assert.Equal(t, pending.Error{Code: pending.CodeAlreadyResolved}, w.store.Resolve(q.Key, pending.Select("a"), tester))
		synctest.Wait()
		assert.Equal(t, map[string][]string{"1": {"selected w"}}, w.frames())
	})
}

func TestL08_APromptSwappedUnderTheFinger(t *testing.T) {
	inBubble(t, pending.Config{}, func(t *testing.T, w *wired) {
		w.attach()
		first := w.open(t, "1", "s1", "same", threeOptions)
		second := w.open(t, "2", "s1", "same", threeOptions)
		assert.Greater(t, second.Number, first.Number)
		first.selects(t, 0)
		synctest.Wait()
		assert.Equal(t, map[string][]string{"1": {"selected a"}}, w.frames())
		second.open(t)
	})
}

func TestL10_BurstsOfOffers(t *testing.T) {
	for _, burst := range []int{7, 1000} {
		inBubble(t, pending.Config{}, func(t *testing.T, w *wired) {
			w.attach()
			var lines []string
			for n := range burst {
				lines = append(lines, plainOffer(fmt.Sprint(n), "s1", "c", threeOptions))
			}
			w.send(lines...)
			synctest.Wait()
			listed := w.store.List(pending.Query{})
			require.Len(t, listed, burst)
			for n := range burst {
				q := w.next(t)
				require.Equal(t, q.Key, listed[n].Key, "oldest first")
				if n%2 == 0 {
					q.selects(t, n%3)
				}
			}
			synctest.Wait()
			require.Len(t, w.frames(), (burst+1)/2)
			assert.Equal(t, burst/2, w.store.Len())
			w.end(true)
			frames := w.frames()
			require.Len(t, frames, burst)
			for n := range burst {
				want := "selected " + []string{"a", "w", "r"}[n%3]
				if n%2 == 1 {
					want = "cancelled"
				}
				require.Equal(t, []string{want}, frames[fmt.Sprint(n)])
			}
		})
	}
}

func TestL13_NobodyIsThereToAsk(t *testing.T) {
	inBubble(t, pending.Config{}, func(t *testing.T, w *wired) {
		q := w.open(t, "1", "s1", "c", threeOptions)
		time.Sleep(pending.DefaultUnseen - time.Nanosecond)
		synctest.Wait()
		q.open(t)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		assert.Equal(t, map[string][]string{"1": {"cancelled"}}, w.frames())
		assert.Equal(t, pending.ReasonNoSurface, receive(t, w.answered).Outcome.Reason)
		q.over(t, pending.CodeExpired, pending.ReasonNoSurface)
	})
	inBubble(t, pending.Config{}, func(t *testing.T, w *wired) {
		w.attach() // somebody was there, and has perhaps gone
		q := w.open(t, "1", "s1", "c", threeOptions)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		q.selects(t, 0)
		synctest.Wait()
		assert.Equal(t, map[string][]string{"1": {"selected a"}}, w.frames())
	})
	inBubble(t, pending.Config{Unseen: time.Minute}, func(t *testing.T, w *wired) { // configured
		w.open(t, "1", "s1", "c", threeOptions)
		time.Sleep(time.Minute - time.Second)
		synctest.Wait()
		assert.Empty(t, w.frames())
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Len(t, w.frames(), 1)
	})
}

func TestL14L15_PeopleGoToLunch(t *testing.T) {
	inBubble(t, pending.Config{}, func(t *testing.T, w *wired) {
		w.attach()
		q := w.open(t, "1", "s1", "c", threeOptions)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		q.selects(t, 0)
		synctest.Wait()
		assert.Equal(t, map[string][]string{"1": {"selected a"}}, w.frames())
		assert.Equal(t, 2*time.Hour, receive(t, w.answered).Outcome.Waited)
	})
	for reject, want := range map[bool]string{false: "cancelled", true: "selected r"} {
		inBubble(t, pending.Config{Expiry: pending.Expiry{After: time.Hour, Reject: reject}}, func(t *testing.T, w *wired) {
			w.attach()
			q := w.open(t, "1", "s1", "c", threeOptions)
			time.Sleep(2 * time.Hour)
			synctest.Wait()
			assert.Equal(t, map[string][]string{"1": {want}}, w.frames())
			q.over(t, pending.CodeExpired, pending.ReasonExpired)
			synctest.Wait()
			assert.Len(t, w.frames()["1"], 1)
		})
	}
}

func TestL16_AnAnsweredOfferIsNeverListedAgain(t *testing.T) {
	inBubble(t, pending.Config{}, func(t *testing.T, w *wired) {
		w.attach()
		session, err := w.instance.NewSession(t.Context(), "/")
		require.NoError(t, err)
		c, err := session.begin("go")
		require.NoError(t, err)
		q := w.open(t, "1", "s1", "c", threeOptions)
		other := w.open(t, "2", "s1", "c", threeOptions)
		q.selects(t, 0)
		w.send(callUpdate("s1", "c", "in_progress"), callUpdate("s1", "c", "completed"), `{"jsonrpc":"2.0","id":`+c.id+`,"result":{"stopReason":"end_turn"}}`)
		synctest.Wait()
		listed := w.store.List(pending.Query{})
		require.Len(t, listed, 1)
		assert.Equal(t, other.Key, listed[0].Key)
	})
}

func TestL20L21L22L23_WhatAnAnswerSelects(t *testing.T) {
	const four = `[{"optionId":"1","name":"A","kind":"allow_once"},{"optionId":"2","name":"B","kind":"allow_once"},{"optionId":"3","name":"C","kind":"allow_once"},{"optionId":"4","name":"D","kind":"allow_once"}]`
	for name, test := range map[string]struct {
		options string
		answer  pending.Answer
		frame   string // empty: the offer stays open
		err     error
	}{
		"L20 deny without a reject":       {`[{"optionId":"a","name":"A","kind":"allow_once"}]`, pending.Deny(), "cancelled", nil},
		"L20 allow is its twin":           {`[{"optionId":"a","name":"A","kind":"allow_once"}]`, pending.Allow(), "selected a", nil},
		"L21 deny with a reject":          {threeOptions, pending.Deny(), "selected r", nil},
		"L22 allow of four":               {four, pending.Allow(), "", pending.Error{Code: pending.CodeOptionRequired, Reason: pipeline.ReasonTwinAllows}},
		"L22 one of four":                 {four, pending.Select("3"), "selected 3", nil},
		"L23 an option that is not there": {threeOptions, pending.Select("allow"), "", pending.ErrOptionNotOffered},
		"L23 one that is":                 {threeOptions, pending.Select("w"), "selected w", nil},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, pending.Config{}, func(t *testing.T, w *wired) {
				w.attach()
				q := w.open(t, "1", "s1", "c", test.options)
				err := w.store.Resolve(q.Key, test.answer, tester)
				synctest.Wait()
				if test.frame == "" {
					assert.Equal(t, test.err, err)
					assert.Empty(t, w.frames())
					q.open(t)
					return
				}
				assert.NoError(t, err)
				assert.Equal(t, map[string][]string{"1": {test.frame}}, w.frames())
			})
		})
	}
}

func TestL24_AnAutomaticAnswerIsExact(t *testing.T) {
	inBubble(t, pending.Config{}, func(t *testing.T, w *wired) {
		for _, id := range []string{`0`, `"0"`, `9007199254740993`, `"\u0041"`, `1e3`} {
			w.send(plainOffer(id, "s1", "c", threeOptions))
			synctest.Wait()
			assert.Equal(t, fmt.Sprintf(selectedA, id), w.lines[len(w.lines)-1])
		}
		w.none(t)
	}, func(_ *Options, l *Launch) { l.Config.AutoApprovePermissions = true })
}

func TestL26_BlanketApprovalOfOddOffers(t *testing.T) {
	inBubble(t, pending.Config{}, func(t *testing.T, w *wired) {
		w.send(plainOffer("1", "s1", "c", `[{"optionId":"r","name":"No","kind":"reject_once"},{"optionId":"R","name":"Never","kind":"reject_always"}]`),
			plainOffer("2", "s1", "c", `[]`), plainOffer("3", "s1", "c", threeOptions))
		synctest.Wait()
		assert.Equal(t, map[string][]string{"1": {"selected r"}, "2": {"cancelled"}, "3": {"selected a"}}, w.frames())
		assert.Equal(t, []string{"select blanket_first_option reject_once", "cancel no_options", "select blanket_approval allow_once"}, w.decisions())
	}, func(_ *Options, l *Launch) { l.Config.AutoApprovePermissions = true })
}

func TestL30_ReadsDoNotEndWhereFramesDo(t *testing.T) {
	inBubble(t, pending.Config{}, func(t *testing.T, w *wired) {
		for _, b := range []byte(plainOffer("1", "s1", "c", threeOptions) + "\n") {
			_, err := w.out.Write([]byte{b})
			require.NoError(t, err)
		}
		w.send(plainOffer("2", "s1", "c", threeOptions), plainOffer("3", "s1", "c", threeOptions), plainOffer("4", "s1", "c", threeOptions))
		_, err := w.out.Write([]byte(plainOffer("5", "s1", "c", threeOptions))) // cut by the end
		require.NoError(t, err)
		synctest.Wait()
		w.end(true)
		w.mu.Lock()
		defer w.mu.Unlock()
		var want []string
		for n := range 4 {
			want = append(want, fmt.Sprintf(selectedA, fmt.Sprint(n+1)))
		}
		assert.Equal(t, want, w.lines)
	}, func(_ *Options, l *Launch) { l.Config.AutoApprovePermissions = true })
}

func TestL62_APendingOfferSaysWhy(t *testing.T) {
	inBubble(t, pending.Config{}, func(t *testing.T, w *wired) {
		w.attach()
		q := w.open(t, "1", "s1", "c", threeOptions)
		var stages []pipeline.Name
		for _, step := range q.Result.Trace.Steps() {
			stages = append(stages, step.Stage)
		}
		assert.Equal(t, []pipeline.Name{"blanket", "identity", "dialect", "provenance", "witness", "option", "pending"}, stages)
		snapshot, err := w.store.Get(q.Key)
		require.NoError(t, err)
		assert.Equal(t, q.Result.Facts.Kept, snapshot.Reason, "the first fact that kept it off the automatic path")
		assert.Equal(t, q.Result.Decision.Reason, snapshot.Reason)
	})
}
