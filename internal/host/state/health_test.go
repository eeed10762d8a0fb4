package state

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A bucket that could not be written is not forgotten for one that can; and a store that
// only was slow is not opened anew, but written to.
func TestWhatCouldNotBeWrittenIsLookedAfter(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir()})
	sick, well := bucket(t, s, "sick"), bucket(t, s, "well")
	assert.NoError(t, s.Writable(t.Context()))
	s.health.checked = time.Now() // nothing looks after it by itself
	s.wrote(sick, failure(context.DeadlineExceeded))
	_, err := well.Create(t.Context(), "key", nil)
	require.NoError(t, err)
	assert.Equal(t, ErrNotWritable, s.Writable(t.Context()))

	s.health.checked = time.Time{}
	assert.NoError(t, s.Writable(t.Context()))
	assert.Zero(t, s.health.reopened)
	assert.Equal(t, map[string]string{"key": ""}, values(t, well))
}

// A write that its caller gave up, or that was refused for what it is, says nothing about
// the store; one that had no answer does.
func TestWhatSaysThatAStoreCannotBeWritten(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir()})
	b := bucket(t, s, "things")
	for _, err := range []error{nil, ErrConflict, ErrNotFound, failure(context.Canceled)} {
		s.wrote(b, err)
		assert.False(t, s.failing(), "%v", err)
	}
	s.wrote(b, failure(context.DeadlineExceeded))
	assert.True(t, s.failing())
	s.wrote(b, nil)
	assert.False(t, s.failing())
}

// Who asks waits for no longer than it wants, and a write does not wait.
func TestACheckThatTakesLong(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir()})
	b := bucket(t, s, "things")
	s.wrote(b, failure(context.DeadlineExceeded))
	s.health.checking = make(chan struct{})
	defer func() { s.health.checking = nil }()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Equal(t, ErrNotWritable, s.Writable(ended))
	_, err := b.Create(t.Context(), "key", nil)
	assert.NoError(t, err)
	assert.NoError(t, s.Writable(ended), "it is known now")
}

// The end waits for the check, which may have the store in hand, and none begins then.
func TestTheLastCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &State{health: health{checking: make(chan struct{})}}
		over := false
		go func() { s.checkedLast(); over = true }()
		synctest.Wait()
		assert.False(t, over)
		close(s.health.checking)
		synctest.Wait()
		assert.True(t, over)
	})
	s := open(t, Options{Dir: t.TempDir()})
	b := bucket(t, s, "things")
	s.wrote(b, failure(context.DeadlineExceeded))
	require.NoError(t, s.Close())
	assert.True(t, s.failing())
	assert.Nil(t, s.check())
}
