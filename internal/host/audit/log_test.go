package audit

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/testlog"
	"github.com/kandev/assent/pipeline"
)

var errDisk = errors.New("no space left on device")

// disk is a sink that can be full, slow, or unable to sync.
type disk struct {
	mu      sync.Mutex
	text    bytes.Buffer
	full    bool
	noSync  bool
	slow    chan struct{} // not nil: a write waits until it is closed
	writes  int
	syncs   int
	syncsAt []time.Time
	closed  bool
}

func (d *disk) Write(line []byte) (int, error) {
	d.mu.Lock()
	slow := d.slow
	d.mu.Unlock()
	if slow != nil {
		<-slow
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes++
	if d.full {
		return 0, errDisk
	}
	return d.text.Write(line)
}

func (d *disk) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.syncs++
	d.syncsAt = append(d.syncsAt, time.Now())
	if d.noSync {
		return errDisk
	}
	return nil
}

func (d *disk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return nil
}

func (d *disk) set(change func(d *disk)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

func (d *disk) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.String()
}

// logTest is a log on a disk, within a bubble of fake time.
type logTest struct {
	*Log
	disk    *disk
	logs    *testlog.Buffer
	dropped int
}

func inBubble(t *testing.T, o Options, test func(t *testing.T, l *logTest)) {
	synctest.Test(t, func(t *testing.T) {
		l := &logTest{disk: &disk{}, logs: &testlog.Buffer{}}
		o.Logger = l.logs.Logger()
		o.Dropped = func(n int) { l.dropped += n }
		l.Log = newLog(l.disk, o.withDefaults())
		test(t, l)
		_ = l.Close(t.Context())
	})
}

func (l *logTest) append(from, to int) {
	for n := from; n < to; n++ {
		l.Append(numberedRecord(n))
	}
}

// pass lets fake time pass, and everything happen that is due by then.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// gaps are the gaps in what was written, in order.
func gaps(records []Record) (found []Record) {
	for _, r := range records {
		if r.Event == Gap {
			found = append(found, r)
		}
	}
	return found
}

func TestEverythingIsWrittenInOrder(t *testing.T) {
	inBubble(t, Options{Queue: 5000}, func(t *testing.T, l *logTest) {
		l.append(0, 5000)
		require.NoError(t, l.Close(t.Context()))
		records := parseAll(t, l.disk.String())
		assert.Equal(t, numbers(0, 5000), requests(records))
		assert.Empty(t, gaps(records))
		assert.Equal(t, Stats{Written: 5000}, l.Stats())
		assert.True(t, l.disk.closed)
		for _, r := range records {
			require.Equal(t, l.run, r.Run)
		}
	})
}

func TestTimesAreInOrderOfTheFile(t *testing.T) {
	d := &disk{}
	l := newLog(d, Options{Queue: 10_000}.withDefaults())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for n := range 500 {
				l.Append(numberedRecord(n))
			}
		})
	}
	all.Wait()
	require.NoError(t, l.Close(t.Context()))
	records := parseAll(t, d.String())
	assert.Len(t, records, 4000)
	assert.True(t, slices.IsSortedFunc(records, func(a, b Record) int { return a.Time.Compare(b.Time) }))
}

func TestTimeOfTheCallerIsKept(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, l *logTest) {
		at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
		l.Append(Record{Event: Unasked, Time: at})
		require.NoError(t, l.Close(t.Context()))
		assert.Equal(t, at, parseAll(t, l.disk.String())[0].Time)
	})
}

// A full disk delays records and loses none as long as they have room.
func TestFullDisk(t *testing.T) {
	inBubble(t, Options{Queue: 100}, func(t *testing.T, l *logTest) {
		l.append(0, 3)
		synctest.Wait()
		l.disk.set(func(d *disk) { d.full = true })
		began := time.Now().UTC()
		l.append(3, 50)
		pass(time.Minute)
		assert.Equal(t, 1, l.logs.Count("level=ERROR"), "once, however often it is tried")
		assert.Contains(t, l.logs.String(), "cannot be written")
		assert.Less(t, l.disk.writes, 40, "tried with growing pauses")
		assert.Equal(t, Stats{Written: 3, Waiting: 47}, l.Stats())
		l.disk.set(func(d *disk) { d.full = false })
		pass(lastRetry)
		records := parseAll(t, l.disk.String())
		assert.Equal(t, numbers(0, 50), requests(records))
		gap := gaps(records)
		require.Len(t, gap, 1)
		assert.Equal(t, GapWriteFailed, gap[0].Reason)
		assert.Zero(t, gap[0].Dropped)
		assert.Equal(t, began, gap[0].Since)
		assert.Equal(t, gap[0], records[3], "in front of the record that waited")
		assert.Equal(t, 1, l.logs.Count("is being written again"))
		assert.Zero(t, l.dropped)
	})
}

// What finds no room is counted, and the file says where and how many.
func TestQueueOverflow(t *testing.T) {
	inBubble(t, Options{Queue: 10}, func(t *testing.T, l *logTest) {
		l.disk.set(func(d *disk) { d.slow = make(chan struct{}) })
		l.append(0, 1)
		synctest.Wait() // the writer has this one in hand
		l.append(1, 16)
		assert.Equal(t, 5, l.dropped, "ten have room")
		assert.Equal(t, 1, l.logs.Count("records are being dropped"))
		assert.Equal(t, Stats{Waiting: 11, Dropped: 5}, l.Stats())
		l.disk.set(func(d *disk) { close(d.slow); d.slow = nil })
		synctest.Wait()
		l.append(16, 20)
		require.NoError(t, l.Close(t.Context()))
		records := parseAll(t, l.disk.String())
		assert.Equal(t, slices.Concat(numbers(0, 11), numbers(16, 20)), requests(records))
		assert.Equal(t, "queue_full", string(records[11].Reason))
		assert.EqualValues(t, 5, records[11].Dropped)
		assert.Equal(t, 1, l.logs.Count("records were dropped"))
		assert.Equal(t, Stats{Written: 16, Dropped: 5}, l.Stats())
	})
}

// A gap stands between what came before it and what came after it, also when the
// next record comes while the queue still holds others.
func TestGapsKeepTheirPlace(t *testing.T) {
	q := queue{limit: 3}
	put := func(n int) bool { accepted, _ := q.put(numberedRecord(n)); return accepted }
	take := func() string {
		r, ok := q.take(time.Time{})
		switch {
		case !ok:
			return "nothing"
		case r.Event == Gap:
			return strings.Repeat("-", int(r.Dropped))
		}
		return r.Request
	}
	require.True(t, put(0) && put(1) && put(2))
	require.False(t, put(3) || put(4))
	require.Equal(t, "0", take())
	require.False(t, put(5), "the one place left is for the gap")
	require.Equal(t, "1", take())
	require.True(t, put(6))
	require.False(t, put(7))
	var rest []string
	for s := take(); s != "nothing"; s = take() {
		rest = append(rest, s)
	}
	assert.Equal(t, []string{"2", "---", "6", "-"}, rest)
}

func TestSlowDiskNeverBlocks(t *testing.T) {
	inBubble(t, Options{Queue: 10}, func(t *testing.T, l *logTest) {
		slow := make(chan struct{})
		l.disk.set(func(d *disk) { d.slow = slow })
		before := time.Now()
		l.append(0, 1)
		synctest.Wait()
		l.append(1, 1000)
		assert.Equal(t, before, time.Now())
		err := l.Close(context.Background())
		assert.Equal(t, closeWithin, time.Since(before), "and neither does the end of the host")
		assert.ErrorIs(t, err, errTooSlow)
		assert.EqualError(t, err, "audit: closed with 11 records not written: the disk does not answer")
		close(slow) // the disk comes back: what waited is written after all
		<-l.done
		assert.Equal(t, numbers(0, 11), requests(parseAll(t, l.disk.String())))
	})
}

func TestCloseWithFullDisk(t *testing.T) {
	inBubble(t, Options{Queue: 10}, func(t *testing.T, l *logTest) {
		l.disk.set(func(d *disk) { d.full = true })
		l.append(0, 1)
		synctest.Wait()
		l.append(1, 15)
		err := l.Close(t.Context())
		assert.ErrorIs(t, err, errDisk)
		assert.ErrorContains(t, err, "audit: 11 records are lost")
		assert.Equal(t, 15, l.dropped)
		assert.Equal(t, Stats{Dropped: 15}, l.Stats())
		assert.Equal(t, err, l.Close(t.Context()), "closing again says the same")
		assert.True(t, l.disk.closed)
	})
}

// The disk has room again at the last moment.
func TestCloseTriesOnceMore(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, l *logTest) {
		l.disk.set(func(d *disk) { d.full = true })
		l.append(0, 10)
		synctest.Wait()
		l.disk.set(func(d *disk) { d.full = false })
		require.NoError(t, l.Close(t.Context()))
		assert.Equal(t, numbers(0, 10), requests(parseAll(t, l.disk.String())))
	})
}

func TestCloseEndsWithItsContext(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, l *logTest) {
		slow := make(chan struct{})
		l.disk.set(func(d *disk) { d.slow = slow })
		l.append(0, 1)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.ErrorIs(t, l.Close(ctx), context.Canceled)
		close(slow)
		<-l.done
	})
}

func TestAppendAfterClose(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, l *logTest) {
		require.NoError(t, l.Close(t.Context()))
		l.append(0, 2)
		assert.Equal(t, 2, l.dropped)
		assert.Equal(t, Stats{Dropped: 2}, l.Stats())
		assert.Contains(t, l.logs.String(), "after the log was closed")
		assert.Empty(t, l.disk.String())
	})
}

func TestSyncOncePerSecond(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, l *logTest) {
		began := time.Now()
		for range 30 {
			l.append(0, 1)
			pass(100 * time.Millisecond)
		}
		pass(time.Hour)
		require.NotEmpty(t, l.disk.syncsAt)
		assert.Equal(t, time.Second, l.disk.syncsAt[0].Sub(began))
		assert.LessOrEqual(t, l.disk.syncs, 3, "none while nothing is written")
		n := l.disk.syncs
		l.append(0, 1)
		require.NoError(t, l.Close(t.Context()))
		assert.Equal(t, n+1, l.disk.syncs, "and one at the end")
	})
}

func TestSyncOnlyAtTheEnd(t *testing.T) {
	inBubble(t, Options{SyncEvery: -1}, func(t *testing.T, l *logTest) {
		l.append(0, 1)
		pass(time.Hour)
		assert.Zero(t, l.disk.syncs)
		require.NoError(t, l.Close(t.Context()))
		assert.Equal(t, 1, l.disk.syncs)
	})
}

// A sync that failed may have lost what was written: the log and the file say so.
func TestSyncFails(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, l *logTest) {
		began := time.Now().UTC()
		l.disk.set(func(d *disk) { d.noSync = true })
		l.append(0, 3)
		pass(10*time.Second + time.Millisecond)
		assert.Equal(t, 1, l.logs.Count("cannot be synced"))
		assert.Equal(t, 10, l.disk.syncs)
		gap := gaps(parseAll(t, l.disk.String()))
		require.Len(t, gap, 1)
		assert.Equal(t, "sync_failed", string(gap[0].Reason))
		assert.Equal(t, began, gap[0].Since)
		l.disk.set(func(d *disk) { d.noSync = false })
		pass(time.Second)
		assert.Equal(t, 1, l.logs.Count("synced again"))
		l.disk.set(func(d *disk) { d.noSync = true })
		l.append(3, 4)
		assert.ErrorIs(t, l.Close(t.Context()), errDisk)
	})
}

func TestNilLog(t *testing.T) {
	var l *Log
	l.Append(Record{})
	assert.Equal(t, Stats{}, l.Stats())
	assert.NoError(t, l.Close(t.Context()))
}

// What a decision pays, with a disk that is stuck for good.
func TestAppendIsCheap(t *testing.T) {
	l := newLog(&disk{slow: make(chan struct{})}, Options{Queue: 100}.withDefaults())
	r := numberedRecord(1)
	for range 200 {
		l.Append(r)
	}
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { l.Append(r) }), 1.0)
	close(l.sink.(*disk).slow)
	require.NoError(t, l.Close(t.Context()))
}

func TestDecisionRecord(t *testing.T) {
	origin := Origin{Instance: "1", Agent: "claude-acp", Task: "task-1", Session: "s", Request: "7", Kind: "execute"}
	result := pipeline.Result{
		Decision: pipeline.Decision{Verdict: pipeline.Select, Reason: "injected_mcp"}, Stage: "option",
		Facts: pipeline.Facts{Identity: tool("kandev", "list_tasks")},
	}
	want := numberedRecord(7)
	want.Session, want.Task, want.Kind = "s", "task-1", "execute"
	assert.Equal(t, want, DecisionRecord(origin, result, pipeline.AllowOnce))
}
