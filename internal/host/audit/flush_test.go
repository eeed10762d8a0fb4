package audit

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{slow: make(chan struct{})}
		l := newLog(d, Options{}.withDefaults())
		require.NoError(t, l.Flush(t.Context(), Stats{}), "nothing waits")
		for range 3 {
			l.Append(Record{Event: Decision, Instance: "1"})
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.ErrorIs(t, l.Flush(short, Stats{}), context.DeadlineExceeded, "the disk does not take them")
		flushed := make(chan error, 2)
		for range 2 {
			go func() { flushed <- l.Flush(t.Context(), Stats{}) }()
		}
		synctest.Wait()
		assert.Empty(t, flushed)
		slow := d.slow
		d.set(func(d *disk) { d.slow = nil })
		close(slow)
		require.NoError(t, <-flushed)
		require.NoError(t, <-flushed)
		assert.Equal(t, 3, strings.Count(d.String(), "\n"))
		require.NoError(t, l.Close(t.Context()))
	})
}

func TestFlushOfALogThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog(&disk{full: true}, Options{}.withDefaults())
		l.Append(Record{Event: Decision, Instance: "1"})
		synctest.Wait()
		flushed := make(chan error)
		go func() { flushed <- l.Flush(t.Context(), Stats{}) }()
		synctest.Wait()
		assert.Error(t, l.Close(t.Context()))
		assert.ErrorIs(t, <-flushed, errDisk)
		assert.NoError(t, (*Log)(nil).Flush(t.Context(), Stats{}))
	})
}

// A record that found no room is told of by each flush that begins before it, at once
// and after everything else is written. One that began later is for other records.
func TestFlushOfDroppedRecords(t *testing.T) {
	inBubble(t, Options{Queue: 2}, func(t *testing.T, l *logTest) {
		l.append(0, 1)
		require.NoError(t, l.Flush(t.Context(), Stats{}))
		before := l.Stats()
		l.disk.set(func(d *disk) { d.slow = make(chan struct{}) })
		l.append(1, 2)
		synctest.Wait() // the writer has this one in hand
		require.NoError(t, l.Err())
		l.append(2, 5)
		assert.ErrorIs(t, l.Flush(t.Context(), before), ErrDropped)
		assert.ErrorIs(t, l.Err(), ErrDropped)
		l.disk.set(func(d *disk) { close(d.slow); d.slow = nil })
		synctest.Wait()
		assert.NoError(t, l.Err(), "the file says it now")
		assert.ErrorIs(t, l.Flush(t.Context(), before), ErrDropped, "nothing waits, and it is lost all the same")
		before = l.Stats()
		l.append(5, 6)
		assert.NoError(t, l.Flush(t.Context(), before))
		assert.Equal(t, []string{"0", "1", "2", "3", "5"}, requests(parseAll(t, l.disk.String())))
		assert.NoError(t, l.Close(t.Context()))
		before = l.Stats()
		l.append(6, 7)
		assert.ErrorIs(t, l.Flush(t.Context(), before), ErrDropped, "it came after the end")
	})
}

// A log whose file cannot be written says so until it can.
func TestErrOfAFileThatCannotBeWritten(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, l *logTest) {
		l.disk.set(func(d *disk) { d.full = true })
		l.append(0, 1)
		synctest.Wait()
		assert.ErrorIs(t, l.Err(), ErrFailing)
		l.disk.set(func(d *disk) { d.full = false })
		require.NoError(t, l.Flush(t.Context(), Stats{}))
		assert.NoError(t, l.Err())
		assert.NoError(t, l.Close(t.Context()))
		assert.NoError(t, (*Log)(nil).Err())
	})
}
