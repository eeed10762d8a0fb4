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
		require.NoError(t, l.Flush(t.Context()), "nothing waits")
		for range 3 {
			l.Append(Record{Event: Decision, Instance: "1"})
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.ErrorIs(t, l.Flush(short), context.DeadlineExceeded, "the disk does not take them")
		flushed := make(chan error, 2)
		for range 2 {
			go func() { flushed <- l.Flush(t.Context()) }()
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
		go func() { flushed <- l.Flush(t.Context()) }()
		synctest.Wait()
		assert.Error(t, l.Close(t.Context()))
		assert.ErrorIs(t, <-flushed, errDisk)
		assert.NoError(t, (*Log)(nil).Flush(t.Context()))
	})
}
