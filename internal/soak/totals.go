package soak

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// totals are the figures of a run. It is safe for concurrent use.
type totals struct {
	mu         sync.Mutex
	count      map[string]int // of what happened, by the words of the report
	answers    map[string]int // on the wire, by the kind of the option
	endings    map[string]int // how offers ended, and which nets fired, as the host says
	replies    map[string]int // what people who answered were told
	violations map[string]int
}

func newTotals() *totals {
	return &totals{count: map[string]int{}, answers: map[string]int{}, endings: map[string]int{}, replies: map[string]int{}, violations: map[string]int{}}
}

// What is counted.
const (
	countOffers    = "offers"
	countTurns     = "turns that ended"
	countCancels   = "sessions cancelled"
	countWithdrawn = "offers taken back by the agent"
	countOrphans   = "offers of agents that were gone"
	countStarts    = "agents started"
	countKills     = "agents killed"
	countStops     = "agents stopped in the middle of a turn"
	countPeace     = "agents stopped after their turns"
)

func (t *totals) add(what string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count[what] += n
}

func (t *totals) tally(of *map[string]int, what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	(*of)[what]++
}

func (t *totals) answer(kind string)    { t.tally(&t.answers, kind) }
func (t *totals) ending(how string)     { t.tally(&t.endings, how) }
func (t *totals) reply(said string)     { t.tally(&t.replies, said) }
func (t *totals) violation(what string) { t.tally(&t.violations, what) }

// broken says whether anything was violated.
func (t *totals) broken() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.violations) > 0
}

// balance holds the figures against each other at the end of a run.
func (t *totals) balance() {
	t.mu.Lock()
	defer t.mu.Unlock()
	answered := 0
	for _, n := range t.answers {
		answered += n
	}
	if offers, gone := t.count[countOffers], t.count[countOrphans]; offers != answered+gone {
		t.violations[fmt.Sprintf("%d offers, but %d answers and %d offers of agents that were gone", offers, answered, gone)]++
	}
}

// print writes the figures.
func (t *totals) print(w io.Writer, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, what := range []string{countOffers, countTurns, countCancels, countWithdrawn, countOrphans, countStarts, countPeace, countStops, countKills} {
		row(w, what, "%8d  %8.1f/s", t.count[what], float64(t.count[what])/took.Seconds())
	}
	for _, part := range []struct {
		title string
		of    map[string]int
	}{{"answers on the wire", t.answers}, {"what the host said", t.endings}, {"what people were told", t.replies}} {
		_, _ = fmt.Fprintf(w, "%s\n", part.title)
		for _, what := range slices.Sorted(maps.Keys(part.of)) {
			row(w, "  "+what, "%8d", part.of[what])
		}
	}
	for _, what := range slices.Sorted(maps.Keys(t.violations)) {
		_, _ = fmt.Fprintf(w, "VIOLATION  %s (%d times)\n", what, t.violations[what])
	}
}

func row(w io.Writer, what, format string, args ...any) {
	_, _ = fmt.Fprintf(w, "%-40s "+format+"\n", append([]any{what}, args...)...)
}
