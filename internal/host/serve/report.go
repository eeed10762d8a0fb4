package serve

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/host/state"
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
// rest because each report is written to the disk. Send is [worker.send]; what it could
// not store is sent again.
func (w *worker) report(send func(task.Report) (again bool)) {
	var stored task.Report // the zero value is none
	var again <-chan time.Time
	for {
		select {
		case <-w.news:
		case <-again:
		case <-w.ctx.Done():
			return
		}
		now, stale := w.state()
		if now == stored && !stale {
			continue
		}
		stored, again = now, nil
		if send(now) {
			stored, again = task.Report{}, time.After(reportAgain)
		}
	}
}

// state is what there is to report. Stale says that another state may be stored than
// was reported last.
func (w *worker) state() (r task.Report, stale bool) {
	note := w.r.note(w.task.ID)
	w.mu.Lock()
	defer w.mu.Unlock()
	stale, w.prompted = w.prompted, false
	r = task.Report{State: task.Idle, Instance: w.view.ID, Session: w.view.Session, Note: note}
	switch {
	case w.turn && w.open > 0:
		r.State = task.Waiting
	case w.turn || len(w.texts) > 0:
		r.State = task.Running
	}
	return r, stale
}

const (
	// reportWithin bounds one report.
	reportWithin = 20 * time.Second
	// reportAgain is from a report that could not be stored to the next try.
	reportAgain = 5 * time.Second
)

// send stores a report. Again says that it can be stored later.
func (w *worker) send(r task.Report) (again bool) {
	ctx, cancel := context.WithTimeout(context.Background(), reportWithin)
	defer cancel()
	_, err := w.r.s.tasks.Report(ctx, task.Host{}, w.task.ID, r)
	if err != nil {
		w.r.s.log.Error("what became of a task could not be stored", "task", w.task.ID, "error", err)
	}
	return errors.Is(err, state.ErrUnavailable)
}

// sendLast sends until the report is stored, or somebody waits for the worker to be
// gone: who stops the task or prompts it stores what becomes of it.
func (w *worker) sendLast(send func(task.Report) (again bool), r task.Report) {
	for send(r) {
		select {
		case <-time.After(reportAgain):
		case <-w.hurried.Done():
			return
		}
	}
}

// last reports the end. A task that has ended stays as it is; one whose turn is cut
// off by the end of the server stays running, so that the next run takes it up.
func (w *worker) last(err error, stopped, busy bool) {
	becomes := task.Idle
	switch {
	case stopped && busy && w.r.draining():
		return
	case stopped || err == nil:
		w.r.s.log.Info("the agent of a task has ended", "task", w.task.ID, "instance", string(w.id))
	case busy:
		w.r.s.log.Warn("the agent of a task could not go on", "task", w.task.ID, "error", err)
		w.r.remark(w.task.ID, "The agent could not go on: "+explain(err))
		becomes = task.Failed
	default:
		w.r.s.log.Warn("the idle agent of a task has ended", "task", w.task.ID, "error", err)
		w.r.remark(w.task.ID, "The agent has ended; the next prompt starts it anew: "+explain(err))
	}
	w.sendLast(w.send, task.Report{State: becomes, Note: w.r.note(w.task.ID)})
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
