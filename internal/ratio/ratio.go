// Package ratio measures one function against another in the same run, so that
// a figure says something on every machine. It is used by benchmarks only.
package ratio

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"
)

// Figure is one measured ratio.
type Figure struct {
	Name string
	// Limit is the greatest ratio that is good.
	Limit float64
	// Subject and Reference do their work n times.
	Subject, Reference func(n int)
}

const (
	rounds    = 21
	roundTime = 15 * time.Millisecond
)

// Run measures the figures one after the other, subject and reference
// interleaved, and prints a line for each. It fails b when the median over the
// rounds misses the limit by more than the spread of the run itself.
func Run(b *testing.B, figures ...Figure) {
	b.Helper()
	for _, f := range figures {
		n, m := calibrate(f.Subject), calibrate(f.Reference)
		ratios := make([]float64, 0, rounds)
		for range rounds {
			runtime.GC()
			subject := each(f.Subject, n)
			runtime.GC()
			ratios = append(ratios, subject/each(f.Reference, m))
		}
		median, spread := middle(ratios)
		report(b, f.Name, median, f.Limit, spread)
	}
}

// Compare is Run for what two functions measured themselves, such as the time of a
// process: each call is one round.
func Compare(b *testing.B, name string, limit float64, rounds int, subject, reference func() float64) {
	b.Helper()
	ratios := make([]float64, 0, rounds)
	for range rounds {
		value := subject()
		ratios = append(ratios, value/reference())
	}
	median, spread := middle(ratios)
	report(b, name, median, limit, spread)
}

// Differ is Compare for the difference of the two.
func Differ(b *testing.B, name string, limit float64, rounds int, subject, reference func() float64) {
	b.Helper()
	differences := make([]float64, 0, rounds)
	for range rounds {
		value := subject()
		differences = append(differences, value-reference())
	}
	median, spread := middle(differences)
	report(b, name, median, limit, spread)
}

// middle is the median of some values, and half of what lies between their quartiles.
func middle(values []float64) (median, spread float64) {
	slices.Sort(values)
	n := len(values)
	return values[n/2], (values[n*3/4] - values[n/4]) / 2
}

// Value reports a figure that is no ratio, such as a number of bytes.
func Value(b *testing.B, name string, value, limit float64) {
	b.Helper()
	report(b, name, value, limit, 0)
}

// Allocations measures what one call of f allocates: how often, and how many
// bytes, in a typical run. Nothing else runs meanwhile.
func Allocations(f func(n int)) (count, bytes float64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	f(1) // fills pools
	counts, sizes := make([]float64, 0, rounds), make([]float64, 0, rounds)
	var before, after runtime.MemStats
	for range rounds {
		runtime.ReadMemStats(&before)
		f(1)
		runtime.ReadMemStats(&after)
		counts = append(counts, float64(after.Mallocs-before.Mallocs))
		sizes = append(sizes, float64(after.TotalAlloc-before.TotalAlloc))
	}
	slices.Sort(counts)
	slices.Sort(sizes)
	return counts[rounds/2], sizes[rounds/2]
}

func report(b *testing.B, name string, value, limit, spread float64) {
	b.Helper()
	fmt.Fprintf(os.Stdout, "ratio %s %.3g goal <=%.3g\n", name, value, limit)
	if value-spread > limit {
		b.Errorf("%s: %.3g misses the goal of %.3g by more than the spread of this run, %.2g", name, value, limit, spread)
	}
}

// each is the time of one call in nanoseconds.
func each(f func(n int), n int) float64 {
	start := time.Now()
	f(n)
	return float64(time.Since(start).Nanoseconds()) / float64(n)
}

// calibrate finds how many calls fill a round.
func calibrate(f func(n int)) int {
	for n := 1; ; n *= 2 {
		start := time.Now()
		f(n)
		if took := time.Since(start); took > roundTime/4 {
			return max(1, int(float64(n)*float64(roundTime)/float64(took)))
		}
	}
}
