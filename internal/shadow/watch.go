package shadow

import (
	"context"
	"sync"

	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/pipeline"
)

// watch notes what an act shows, and passes everything on.
type watch struct {
	process.Watcher

	mu sync.Mutex
	notes
}

// notes are what is noted of one act.
type notes struct {
	sessions []*process.Session
	decided  []decision
	allowed  map[uint64]bool // by a person, by the number of the offer
	fired    []process.Fired
	unasked  int
	listed   map[endpoint.SessionID]int
	arrived  map[endpoint.SessionID]int
}

// decision is what is noted of one, without its frame.
type decision struct {
	session string
	number  uint64
	pipeline.Decision
}

func newWatch(next process.Watcher) *watch {
	w := &watch{Watcher: next}
	w.forget()
	return w
}

// forget begins another act.
func (w *watch) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = notes{allowed: map[uint64]bool{}, listed: map[endpoint.SessionID]int{}, arrived: map[endpoint.SessionID]int{}}
}

// begin notes that a session's turn begins.
func (w *watch) begin(s *process.Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sessions = append(w.sessions, s)
}

// Decided implements [process.Watcher].
func (w *watch) Decided(ctx context.Context, d process.Decided) {
	w.mu.Lock()
	w.decided = append(w.decided, decision{d.Session, d.Number, d.Result.Decision})
	w.mu.Unlock()
	w.Watcher.Decided(ctx, d)
}

// Answered implements [process.Watcher].
func (w *watch) Answered(ctx context.Context, a process.Answered) {
	w.mu.Lock()
	w.allowed[a.Number] = pipeline.IsAllow(a.Outcome.OptionKind)
	w.mu.Unlock()
	w.Watcher.Answered(ctx, a)
}

// Fired implements [process.NetWatcher].
func (w *watch) Fired(ctx context.Context, f process.Fired) {
	w.mu.Lock()
	w.fired = append(w.fired, f)
	w.mu.Unlock()
	if next, ok := w.Watcher.(process.NetWatcher); ok {
		next.Fired(ctx, f)
	}
}

// Unasked implements [process.NetWatcher].
func (w *watch) Unasked(ctx context.Context, u process.Unasked) {
	w.mu.Lock()
	w.unasked++
	w.mu.Unlock()
	if next, ok := w.Watcher.(process.NetWatcher); ok {
		next.Unasked(ctx, u)
	}
}

// Listed implements [endpoint.Observer].
func (w *watch) Listed(s endpoint.SessionID, _ []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listed[s]++
}

// Arrived implements [endpoint.Observer].
func (w *watch) Arrived(s endpoint.SessionID, _ endpoint.Arrival) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.arrived[s]++
}
