package serve

import (
	"context"
	"sync"
	"time"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/task"
)

const (
	// resumeAtOnce is how many agents begin at the same time after a restart.
	resumeAtOnce = 4
	// resumeWithin is how long one of them keeps the others waiting. One that does not
	// answer goes on to begin beside those that come after it.
	resumeWithin = 10 * time.Second
)

// noteForgotten is said in a task that an earlier run of the server has prompted.
const noteForgotten = "The server was started anew: what was said here before is not kept."

// takeUp takes up the sessions of tasks that were running when the server ended, and
// forgets the instances of all others: they are gone. What the earlier run had to say
// about a task is said again. It does not wait for agents.
func (s *Server) takeUp(ctx context.Context) error {
	tasks, err := s.tasks.List(task.Host{})
	if err != nil {
		return err
	}
	var cut []task.ID
	for _, t := range tasks {
		if t.State != task.Created {
			s.say(t.ID, fromHost, noteForgotten)
		}
		if t.Note != "" && !t.Resume {
			s.runner.remark(t.ID, display.Text(t.Note, maxShownText))
		}
		switch {
		case t.Resume:
			cut = append(cut, t.ID)
		case t.Instance != "" && !t.State.Ended():
			if _, err := s.tasks.Report(ctx, task.Host{}, t.ID, task.Report{State: task.Idle, Note: t.Note}); err != nil {
				return err
			}
		}
	}
	s.background.Go(func() { s.resumeAll(cut) })
	return nil
}

// resumeAll resumes a few at a time.
func (s *Server) resumeAll(cut []task.ID) {
	var running sync.WaitGroup
	places := make(chan struct{}, resumeAtOnce)
	for _, id := range cut {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			s.resume(id)
		})
	}
	running.Wait()
}

// resume takes one session up, unless its task was stopped or prompted meanwhile.
func (s *Server) resume(id task.ID) {
	var w *worker
	// No limit: whoever deals with the task just now ends with the server.
	err := s.tasks.Resume(context.Background(), task.Host{}, id, func(t task.Task) { w = s.revive(t) })
	if err != nil { // it is forgotten
		s.log.Warn("a task that was cut off is not taken up", "task", id, "error", err)
	}
	if w != nil {
		w.settled(resumeWithin)
	}
}

// revive begins the worker that takes a session up, or says why there is none. The task is
// idle then: what it was doing was cut off, and nobody has said that it should do it
// again. It is called at the task's gate.
func (s *Server) revive(t task.Task) *worker {
	if w := s.runner.working(t.ID); w != nil {
		return w // somebody has prompted it
	}
	note := noteNever
	if t.Session != "" {
		w, _, err := s.runner.worker(t, "", noteResumed)
		if err == nil {
			return w
		}
		note = "The server was started anew, and the agent was not: " + explain(failure(err)) + ". Send a prompt to go on."
	}
	if s.runner.draining() {
		return nil // the next run does it
	}
	s.runner.remark(t.ID, note)
	ctx, cancel := context.WithTimeout(context.Background(), reportWithin)
	defer cancel()
	if _, err := s.tasks.Report(ctx, task.Host{}, t.ID, task.Report{State: task.Idle, Note: note}); err != nil {
		s.log.Error("what became of a task could not be stored", "task", t.ID, "error", err)
	}
	return nil
}
