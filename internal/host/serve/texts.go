package serve

import (
	"cmp"
	"errors"
	"time"

	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/host/task"
)

// work says texts until the worker ends: by itself, from outside, or with the agent.
func (w *worker) work() error {
	for {
		text, ok, over := w.next()
		switch {
		case over:
			return nil
		case ok:
			if err := w.say(text); err != nil {
				return err
			}
			continue
		}
		select {
		case <-w.wake:
		case <-w.ctx.Done():
			return nil
		case <-w.instance.Done():
			return cmp.Or(w.instance.Err(), process.ErrEnded)
		}
	}
}

// say says one text and waits for the end of the turn. The error is that the agent
// has ended.
func (w *worker) say(text string) error {
	w.r.s.say(w.task.ID, fromPrompt, text)
	_, err := w.session.Prompt(w.ctx, text)
	switch {
	case err == nil, w.ctx.Err() != nil:
	case errors.Is(err, process.ErrEnded):
		<-w.instance.Done()
		return cmp.Or(w.instance.Err(), err)
	default:
		w.r.remark(w.task.ID, "The agent answered the prompt with an error: "+explain(err))
	}
	return nil
}

// next is the next text to be said. Over says that there will be none. A turn that ends
// while the server does was cut off: what it had asked has ended.
func (w *worker) next() (text string, ok, over bool) {
	ending := w.r.draining()
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.tell()
	if ending || w.ctx.Err() != nil {
		return "", false, true
	}
	if len(w.texts) == 0 {
		if w.turn {
			w.idleAt = time.Now()
		}
		w.turn = false
		return "", false, w.retiring
	}
	text, w.texts, w.turn = w.texts[0], w.texts[1:], true
	return text, true, false
}

// take takes a text in; false when the worker ends just now.
func (w *worker) take(text string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.retiring || w.ctx.Err() != nil {
		return false, nil
	}
	if len(w.texts) >= maxTexts {
		return false, errTexts
	}
	w.texts, w.prompted = append(w.texts, text), true
	w.nudge()
	return true, nil
}

// nudge wakes the worker. The lock is held.
func (w *worker) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// interrupt cancels the turn, with the texts that wait for the next one, and in the
// sessions that the agent made by itself what they ask for.
func (w *worker) interrupt() bool {
	w.mu.Lock()
	running := w.turn || len(w.texts) > 0
	w.texts = nil
	session := w.session
	w.mu.Unlock()
	if session != nil && running {
		_ = session.Cancel() // it fails only when the agent has ended
		w.r.s.cancelOthers(w.instance, session.ID())
	}
	return running
}

// end ends the agent, whatever it does.
func (w *worker) end() { w.stop(); w.hurry() }

// idleSince says since when there has been nothing to do, and nobody was asked.
func (w *worker) idleSince() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.idleAt, w.session != nil && !w.turn && len(w.texts) == 0 && w.open == 0 && !w.retiring
}

// retire ends an idle worker by itself; false when it has something to do again.
func (w *worker) retire() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.turn || len(w.texts) > 0 || w.open > 0 {
		return false
	}
	w.retiring = true
	w.nudge()
	return true
}

// completed ends the worker, whose task is done, when its turn is over or takes too
// long. What waits is not said, and nothing is approved automatically any more.
func (w *worker) completed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.retiring, w.texts = true, nil
	if w.limit == nil {
		w.limit = time.AfterFunc(w.r.grace, w.stop)
	}
	w.nudge()
}

// over says that the task has ended, as it is stored, or that the agent is to end. A task
// that is forgotten had ended.
func (w *worker) over() bool {
	ending := w.r.draining()
	t, err := w.r.s.tasks.Get(task.Host{}, w.task.ID)
	ending = ending || err != nil || t.State.Ended()
	w.mu.Lock()
	defer w.mu.Unlock()
	return ending || w.limit != nil || w.ctx.Err() != nil
}

// unlimit ends the limit of a worker that is over.
func (w *worker) unlimit() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit != nil {
		w.limit.Stop()
	}
}
