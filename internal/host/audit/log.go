package audit

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Options of a [Log]. The zero value means the defaults.
type Options struct {
	// MaxBytes is the size beyond which the file is rotated; 0 means 64 MiB.
	MaxBytes int64
	// Keep is how many rotated files are kept; 0 means 10, below zero all.
	Keep int
	// Queue is how many records can wait for the disk; 0 means 4096.
	Queue int
	// SyncEvery is how long a record can be in the file before it is synced to the
	// disk; 0 means a second, below zero only when the file is rotated or closed.
	SyncEvery time.Duration
	// Logger is told once when a trouble begins and once when it ends.
	Logger *slog.Logger
	// Dropped is told about records that are lost. It must not block.
	Dropped func(records int)
}

// Defaults of [Options].
const (
	defaultMaxBytes = 64 << 20
	defaultKeep     = 10
	defaultQueue    = 4096
	defaultSync     = time.Second
)

// closeWithin bounds [Log.Close].
const closeWithin = 5 * time.Second

// Times between two tries to write a record.
const (
	firstRetry = 20 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// ErrClosed is the error of a log that has been closed.
var ErrClosed = errors.New("audit: the log is closed")

// Stats count the records of a log.
type Stats struct {
	// Written records are in the file, gaps included.
	Written uint64
	// Waiting records are on their way.
	Waiting uint64
	// Dropped records are lost.
	Dropped uint64
}

// Log is an open audit file. A nil Log takes records and keeps none. It is safe
// for concurrent use.
type Log struct {
	options Options
	run     string
	sink    sink

	mu      sync.Mutex
	queue   queue
	stats   Stats
	inHand  uint64        // 1 while the writer has a record
	failing bool          // the last try to write failed
	empty   chan struct{} // closed when nothing waits; nil while nobody wants to know
	closed  bool

	wake    chan struct{} // something waits
	closing chan struct{}
	done    chan struct{} // the writer has ended
	err     error         // why, once it has
}

// sink is where lines go.
type sink interface {
	// Write appends one line with one write call. After an error it may be tried
	// again with the same line.
	Write(line []byte) (int, error)
	Sync() error
	Close() error
}

// Open opens or makes an audit file, and its folder. An existing file is appended
// to. The error says what is wrong with the path.
func Open(path string, o Options) (*Log, error) {
	o = o.withDefaults()
	f, err := openFile(path, o)
	if err != nil {
		return nil, err
	}
	l := newLog(f, o)
	if f.midline { // nobody knows when
		l.Append(Record{Event: Gap, Reason: GapLineCut})
	}
	return l, nil
}

func (o Options) withDefaults() Options {
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.Keep == 0 {
		o.Keep = defaultKeep
	}
	if o.Queue <= 0 {
		o.Queue = defaultQueue
	}
	if o.SyncEvery == 0 {
		o.SyncEvery = defaultSync
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Dropped == nil {
		o.Dropped = func(int) {}
	}
	return o
}

func newLog(s sink, o Options) *Log {
	l := &Log{
		options: o, run: newRun(), sink: s,
		queue:   queue{limit: o.Queue},
		wake:    make(chan struct{}, 1),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
	}
	w := &writer{log: l}
	go w.run()
	return l
}

// newRun names one run of the host.
func newRun() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Run names this run of the host, as the records of the log do; empty without a log.
func (l *Log) Run() string {
	if l == nil {
		return ""
	}
	return l.run
}

// Append adds a record. It never waits for the disk and never fails: a record
// that cannot be kept is counted, reported and marked in the file.
func (l *Log) Append(r Record) {
	if l == nil {
		return
	}
	r = r.clean() // a long text of an agent must not wait in the queue
	l.mu.Lock()
	if r.Run = l.run; r.Time.IsZero() {
		r.Time = time.Now().UTC().Round(0) // under the lock: the file is in this order
	}
	accepted, begins := false, false
	if !l.closed {
		accepted, begins = l.queue.put(r)
	}
	closed := l.closed
	if !accepted {
		l.stats.Dropped++
	}
	l.mu.Unlock()
	if accepted {
		l.nudge()
		return
	}
	l.options.Dropped(1)
	switch {
	case closed:
		l.options.Logger.Error("an audit record came after the log was closed and is lost")
	case begins:
		l.options.Logger.Error("the audit log cannot keep up: records are being dropped", "waiting", l.options.Queue)
	}
}

// nudge wakes the writer.
func (l *Log) nudge() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Stats are the counts so far.
func (l *Log) Stats() Stats {
	if l == nil {
		return Stats{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Waiting = l.inHand + uint64(l.queue.n)
	return s
}

// ErrDropped is the error of a flush when records were lost, and of a log that loses them.
var ErrDropped = errors.New("audit: records were dropped: the disk could not keep up")

// ErrFailing is the error of a log whose records wait until writing works again.
var ErrFailing = errors.New("audit: the file cannot be written: it is tried again until it works")

// Err says why records do not reach the file now; nil while they do. It is
// [ErrDropped] from a record that is lost until the file says so, and [ErrFailing].
func (l *Log) Err() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.queue.missing > 0:
		return ErrDropped
	case l.failing:
		return ErrFailing
	}
	return nil
}

// Flush waits until no record waits for the file any more: what was appended before
// is then written, and outlives this process. The error is that of ctx, says that the
// log has ended without it, or is [ErrDropped] when any record was lost, by anybody,
// since the counts of [Log.Stats] that are given; zero counts are for the whole run.
func (l *Log) Flush(ctx context.Context, since Stats) error {
	if l.Stats().Dropped > since.Dropped {
		return ErrDropped
	}
	if l == nil {
		return nil
	}
	l.mu.Lock()
	if l.inHand == 0 && l.queue.n == 0 {
		l.mu.Unlock()
		return nil
	}
	if l.empty == nil {
		l.empty = make(chan struct{})
	}
	empty := l.empty
	l.mu.Unlock()
	select {
	case <-empty:
		return nil
	case <-l.done:
		return l.err
	case <-ctx.Done():
		return fmt.Errorf("audit: %d records are not written yet: %w", l.Stats().Waiting, context.Cause(ctx))
	}
}

// Close writes what waits, syncs and closes the file. It waits until ctx ends and
// at most five seconds. The error says how many records are lost, or not written
// yet. What is appended later is lost.
func (l *Log) Close(ctx context.Context) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.closing)
	}
	l.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(ctx, closeWithin, errTooSlow)
	defer cancel()
	select {
	case <-l.done:
		return l.err
	case <-ctx.Done():
		return fmt.Errorf("audit: closed with %d records not written: %w", l.Stats().Waiting, context.Cause(ctx))
	}
}

var errTooSlow = errors.New("the disk does not answer")
