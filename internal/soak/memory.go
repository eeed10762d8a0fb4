package soak

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"
)

// checkpoint is what the process holds while no agent runs.
type checkpoint struct {
	at         time.Duration
	heap       uint64
	goroutines int
	files      int // open; below zero where that cannot be known
}

// take collects garbage, also what finalizers leave, and looks.
func take(at time.Duration) checkpoint {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return checkpoint{at: at, heap: m.HeapAlloc, goroutines: runtime.NumGoroutine(), files: openFiles()}
}

// openFiles counts the file descriptors of this process.
func openFiles() int {
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		if entries, err := os.ReadDir(dir); err == nil {
			return len(entries)
		}
	}
	return -1
}

// What may grow between the first and the last part of a run.
const (
	heapShare     = 1.15    // times
	heapSlack     = 2 << 20 // and bytes
	spareRoutines = 3       // the run-time's own come and go
	spareFiles    = 3
)

// flat compares the last third of the checkpoints with the first one. The first
// checkpoint is not counted: bounded stores fill up until then.
func flat(points []checkpoint) error {
	if len(points) < 4 {
		return fmt.Errorf("memory was looked at %d times only: let it run for longer", len(points))
	}
	points = points[1:]
	third := max(1, len(points)/3)
	early, late := points[:third], points[len(points)-third:]
	heap := func(c checkpoint) float64 { return float64(c.heap) }
	goroutines := func(c checkpoint) float64 { return float64(c.goroutines) }
	files := func(c checkpoint) float64 { return float64(c.files) }
	switch {
	case least(late, heap) > most(early, heap)*heapShare+heapSlack:
		return fmt.Errorf("the heap grew from %.1f to %.1f MiB", most(early, heap)/(1<<20), least(late, heap)/(1<<20))
	case least(late, goroutines) > most(early, goroutines)+spareRoutines:
		return fmt.Errorf("the goroutines grew from %.0f to %.0f", most(early, goroutines), least(late, goroutines))
	case least(late, files) > most(early, files)+spareFiles:
		return fmt.Errorf("the open files grew from %.0f to %.0f", most(early, files), least(late, files))
	}
	return nil
}

func least(points []checkpoint, of func(checkpoint) float64) float64 {
	return of(slices.MinFunc(points, func(a, b checkpoint) int { return cmp.Compare(of(a), of(b)) }))
}

func most(points []checkpoint, of func(checkpoint) float64) float64 {
	return of(slices.MaxFunc(points, func(a, b checkpoint) int { return cmp.Compare(of(a), of(b)) }))
}

// printMemory writes the checkpoints' extremes and each of them.
func printMemory(w io.Writer, points []checkpoint) {
	if len(points) == 0 {
		return
	}
	heap := func(c checkpoint) float64 { return float64(c.heap) / (1 << 20) }
	row(w, "heap after collection, MiB", "least %.2f  most %.2f", least(points, heap), most(points, heap))
	for _, c := range points {
		row(w, "  after "+c.at.Round(time.Second).String(), "heap %7.2f MiB  goroutines %d  files %d", heap(c), c.goroutines, c.files)
	}
}
