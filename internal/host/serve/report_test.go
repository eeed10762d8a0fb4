package serve

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/task"
)

// shelf is where reports go. While it is broken nothing can be stored.
type shelf struct {
	hold chan struct{} // what is being stored waits for it; nil: it does not

	mu     sync.Mutex
	broken bool
	tries  []task.State
}

func (s *shelf) send(r task.Report) (again bool) {
	if s.hold != nil {
		<-s.hold
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries = append(s.tries, r.State)
	return s.broken
}

func (s *shelf) tried() []task.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tries)
}

func (s *shelf) mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = false
}

// reporting runs a worker without an agent, whose reports go to a shelf.
func reporting(t *testing.T, s *shelf) *worker {
	t.Helper()
	w := newWorker(&runner{}, task.Task{}, Agent{}, "", "taken up")
	go w.report(s.send)
	t.Cleanup(w.end)
	return w
}

// begins has the worker take the next text, or find that there is none.
func (w *worker) begins(t *testing.T) {
	t.Helper()
	_, _, over := w.next()
	require.False(t, over)
	synctest.Wait()
}

// What could not be stored is stored later, and what was is not stored again.
func TestAReportThatCannotBeStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{broken: true}
		w := reporting(t, s)
		w.begins(t)
		assert.Equal(t, []task.State{task.Idle}, s.tried())
		time.Sleep(reportAgain)
		synctest.Wait()
		assert.Equal(t, []task.State{task.Idle, task.Idle}, s.tried())

		s.mend()
		time.Sleep(reportAgain)
		w.begins(t)
		time.Sleep(10 * reportAgain)
		assert.Equal(t, []task.State{task.Idle, task.Idle, task.Idle}, s.tried(), "once it is stored that is all")
		w.end()
	})
}

// A prompt stores that its task runs: what it is at is told after it, also when the turn
// is over by then, or never began.
func TestAReportAfterAPrompt(t *testing.T) {
	prompt := func(t *testing.T, w *worker) {
		taken, err := w.take("hello")
		require.NoError(t, err)
		require.True(t, taken)
	}
	for name, during := range map[string]func(t *testing.T, w *worker){
		"that was cancelled before it began":      func(t *testing.T, w *worker) { prompt(t, w); w.interrupt() },
		"whose turn was over before it was known": func(t *testing.T, w *worker) { prompt(t, w); w.begins(t) },
		"none": nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &shelf{hold: make(chan struct{})}
				w := reporting(t, s)
				w.begins(t) // this is being stored
				want := []task.State{task.Idle}
				if during != nil {
					during(t, w)
					want = append(want, task.Idle)
				}
				w.begins(t)
				close(s.hold)
				synctest.Wait()
				assert.Equal(t, want, s.tried())
				w.end()
			})
		})
	}
}

// The end of a worker is stored as soon as it can be, unless somebody waits for it.
func TestTheLastReport(t *testing.T) {
	for _, hurried := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := &shelf{broken: true}
			w := newWorker(&runner{}, task.Task{}, Agent{}, "", "taken up")
			defer w.end()
			done := make(chan struct{})
			go func() { w.sendLast(s.send, task.Report{State: task.Failed}); close(done) }()
			synctest.Wait()
			want := []task.State{task.Failed}
			if hurried {
				w.hurry()
			} else {
				s.mend()
				want = append(want, task.Failed)
			}
			<-done
			assert.Equal(t, want, s.tried())
		})
	}
}
