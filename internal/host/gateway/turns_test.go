package gateway

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := newTurns()
		var clock sync.WaitGroup
		clock.Go(func() { s.run(ctx) })
		var readers atomic.Int32
		readOn := func() { readers.Add(1) }
		for range 3 { // from a clock that stands still, and from one that goes
			began := time.Now()
			quick := s.begin(readOn)
			assert.True(t, s.end(quick), "nobody else reads on")

			slow := s.begin(readOn)
			time.Sleep(2*patience + 1)
			assert.EqualValues(t, 1, readers.Swap(0), "another one reads on, once")
			time.Sleep(10 * patience)
			assert.False(t, s.end(slow))
			assert.Zero(t, readers.Load())
			assert.Less(t, time.Since(began), time.Second)
			time.Sleep(time.Minute)
			s.mu.Lock()
			assert.True(t, s.asleep)
			s.mu.Unlock()
		}
		cancel()
		clock.Wait()
	})
}
