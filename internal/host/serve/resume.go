package serve

import (
	"context"
	"sync"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/task"
)

// resumeAtOnce is how many agents begin at the same time after a restart.
const resumeAtOnce = 4

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
	var cut []task.Task
	for _, t := range tasks {
		if t.State != task.Created {
			s.say(t.ID, fromHost, noteForgotten)
		}
		if t.Note != "" && !t.Resume {
			s.runner.remark(t.ID, display.Text(t.Note, maxShownText))
		}
		switch {
		case t.Resume:
			cut = append(cut, t)
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
func (s *Server) resumeAll(cut []task.Task) {
	var running sync.WaitGroup
	places := make(chan struct{}, resumeAtOnce)
	for _, t := range cut {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			s.resume(t)
		})
	}
	running.Wait()
}

// resume takes one session up, or says why not. The task is idle then: what it was
// doing was cut off, and nobody has said that it should do it again.
func (s *Server) resume(t task.Task) {
	note := noteNever
	if t.Session != "" {
		w, begun, err := s.runner.worker(t, "", noteResumed)
		if begun || err == nil {
			w.settled()
			return
		}
		note = "The server was started anew, and the agent was not: " + explain(failure(err)) + ". Send a prompt to go on."
	}
	if s.runner.draining() {
		return // the next run does it
	}
	s.runner.remark(t.ID, note)
	ctx, cancel := context.WithTimeout(context.Background(), reportWithin)
	defer cancel()
	if _, err := s.tasks.Report(ctx, task.Host{}, t.ID, task.Report{State: task.Idle, Note: note}); err != nil {
		s.log.Error("what became of a task could not be stored", "task", t.ID, "error", err)
	}
}
