package serve

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/host/task"
)

// tell lets the state be reported. The lock is held.
func (w *worker) tell() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// report tells the tasks what the worker is at, until it ends. It is apart from the
// rest because each report is written to the disk.
func (w *worker) report() {
	var last task.Report
	for {
		select {
		case <-w.news:
		case <-w.ctx.Done():
			return
		}
		if now := w.state(); now != last {
			last = now
			w.send(now)
		}
	}
}

// state is what there is to report.
func (w *worker) state() task.Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := task.Report{State: task.Idle, Instance: w.view.ID, Session: w.view.Session}
	switch {
	case w.turn && w.open > 0:
		r.State = task.Waiting
	case w.turn || len(w.texts) > 0:
		r.State = task.Running
	}
	return r
}

// reportWithin bounds one report.
const reportWithin = 20 * time.Second

func (w *worker) send(r task.Report) {
	ctx, cancel := context.WithTimeout(context.Background(), reportWithin)
	defer cancel()
	if _, err := w.r.s.tasks.Report(ctx, task.Host{}, w.task.ID, r); err != nil {
		w.r.s.log.Error("what became of a task could not be stored", "task", w.task.ID, "error", err)
	}
}

// last reports the end. A task that has ended stays as it is; one whose turn is cut
// off by the end of the server stays running, so that the next run takes it up.
func (w *worker) last(err error, stopped, busy bool) {
	switch {
	case stopped && busy && w.r.draining():
	case stopped || err == nil:
		w.send(task.Report{State: task.Idle})
	case busy:
		w.r.s.log.Warn("the agent of a task could not go on", "task", w.task.ID, "error", err)
		w.r.remark(w.task.ID, "The agent could not go on: "+explain(err))
		w.send(task.Report{State: task.Failed})
	default:
		w.r.s.log.Warn("the idle agent of a task has ended", "task", w.task.ID, "error", err)
		w.r.remark(w.task.ID, "The agent has ended; the next prompt starts it anew: "+explain(err))
		w.send(task.Report{State: task.Idle})
	}
}

// explain is an error of an agent in words for people who see its task. What the
// agent itself said about it can quote anything that it was sent, and is left out.
func explain(err error) string {
	text := err.Error()
	for _, prefix := range []string{"process: ", "child: ", "config: ", "endpoint: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	_, answered := errors.AsType[*process.RPCError](err)
	_, exited := errors.AsType[*process.ExitError](err)
	if answered || exited {
		text += "; assent run with the same command shows what it says"
	}
	return display.Line(text, maxShownLine)
}
