package audit

import (
	"errors"
	"fmt"
	"time"
)

// writer is the goroutine of a [Log] that writes.
type writer struct {
	log  *Log
	line []byte

	failing  time.Time // since when writing fails; zero while it works
	unsynced bool
	synced   time.Time        // the last time that a sync worked
	syncBad  bool             // the last sync failed
	syncDue  <-chan time.Time // nil while nothing is to be synced
	timer    *time.Timer
}

// run writes until the log is closed and everything is written, or until it is
// closed and cannot be written.
func (w *writer) run() {
	l := w.log
	defer close(l.done)
	w.timer = time.NewTimer(time.Hour)
	defer w.timer.Stop()
	w.synced = time.Now()
	for {
		r, ok := w.take()
		if !ok && !w.idle() {
			l.err = w.end(nil)
			return
		}
		if !ok {
			continue
		}
		if err := w.write(r); err != nil {
			l.err = w.end(w.giveUp(r, err))
			return
		}
	}
}

// take removes the oldest record from the queue. It still counts as waiting.
func (w *writer) take() (Record, bool) {
	l := w.log
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.queue.take(time.Now())
	if ok {
		l.inHand = 1
	}
	return r, ok
}

// idle waits for work. It is false when there will be none any more.
func (w *writer) idle() bool {
	select {
	case <-w.log.wake:
	case <-w.syncDue:
		_ = w.sync() // it has reported what is wrong
	case <-w.log.closing:
		w.log.mu.Lock()
		defer w.log.mu.Unlock()
		return w.log.queue.n > 0 || w.log.queue.missing > 0 // came before the closing
	}
	return true
}

// write writes a record, however often it has to try. It fails only when the log
// is being closed.
func (w *writer) write(r Record) error {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		err := w.try(&r)
		if err == nil {
			break
		}
		w.failed(err)
		if !w.pause(wait) {
			if err := w.try(&r); err != nil {
				return err
			}
			break
		}
	}
	w.written(&r)
	return nil
}

// pause waits before the next try. It is false when the log is being closed.
func (w *writer) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.log.closing:
		return false
	}
}

// try writes a record, after a gap that says how long nothing could be written.
func (w *writer) try(r *Record) error {
	if !w.failing.IsZero() {
		gap := Record{Time: time.Now().UTC(), Event: Gap, Reason: GapWriteFailed, Since: w.failing}
		if err := w.put(&gap); err != nil {
			return err
		}
		w.log.options.Logger.Info("the audit log is being written again", "failed_since", w.failing)
		w.fails(time.Time{})
	}
	return w.put(r)
}

// put hands one line to the sink.
func (w *writer) put(r *Record) error {
	r.Run = w.log.run
	w.line = appendRecord(w.line[:0], r)
	if _, err := w.log.sink.Write(w.line); err != nil {
		return err
	}
	if !w.unsynced {
		w.dueSync()
	}
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	w.log.stats.Written++
	return nil
}

// dueSync lets a sync come, after the time that the options say.
func (w *writer) dueSync() {
	w.unsynced = true
	if every := w.log.options.SyncEvery; every > 0 {
		w.timer.Reset(every)
		w.syncDue = w.timer.C
	}
}

// failed reports the beginning of a trouble.
func (w *writer) failed(err error) {
	if w.failing.IsZero() {
		w.fails(time.Now().UTC())
		w.log.options.Logger.Error("the audit log cannot be written; it is tried again until it works", "error", err)
	}
}

// fails notes since when writing fails; zero while it works.
func (w *writer) fails(since time.Time) {
	w.failing = since
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	w.log.failing = !since.IsZero()
}

// written notes that a record is in the file.
func (w *writer) written(r *Record) {
	w.log.mu.Lock()
	w.log.inHand = 0
	if w.log.empty != nil && w.log.queue.n == 0 {
		close(w.log.empty)
		w.log.empty = nil
	}
	w.log.mu.Unlock()
	if r.Event == Gap && r.Reason == GapQueueFull {
		w.log.options.Logger.Warn("audit records were dropped", "records", r.Dropped, "since", r.Since)
	}
	select {
	case <-w.syncDue:
		_ = w.sync() // it has reported what is wrong
	default:
	}
}

// sync syncs the file. What was written before a sync that failed may never reach
// the disk: a gap says so, and the next sync comes in its time.
func (w *writer) sync() error {
	w.unsynced, w.syncDue = false, nil
	err := w.log.sink.Sync()
	logger := w.log.options.Logger
	switch {
	case err == nil:
		if w.syncBad {
			logger.Info("the audit log is being synced again", "failed_since", w.synced)
		}
		w.syncBad, w.synced = false, time.Now().UTC()
		return nil
	case !w.syncBad:
		w.syncBad = true
		logger.Error("the audit log cannot be synced to the disk; it is tried again until it works", "error", err)
		_ = w.put(&Record{Time: time.Now().UTC(), Event: Gap, Reason: GapSyncFailed, Since: w.synced}) // the next record reports it
	}
	w.dueSync()
	return err
}

// giveUp counts what can't be written any more, beginning with the record in hand.
func (w *writer) giveUp(r Record, err error) error {
	l := w.log
	lost := 0
	l.mu.Lock()
	for ok := true; ok; r, ok = l.queue.take(time.Time{}) {
		if r.Event != Gap {
			lost++
		}
	}
	l.stats.Dropped += uint64(lost)
	l.inHand = 0
	l.mu.Unlock()
	l.options.Dropped(lost)
	l.options.Logger.Error("audit records are lost: the log was closed and could not be written", "records", lost, "error", err)
	return fmt.Errorf("audit: %d records are lost: %w", lost, err)
}

// end syncs and closes the sink.
func (w *writer) end(err error) error {
	var unsynced error
	if w.unsynced {
		unsynced = w.sync()
	}
	return errors.Join(err, unsynced, w.log.sink.Close())
}
