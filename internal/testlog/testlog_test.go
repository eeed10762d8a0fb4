package testlog_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"

	"github.com/kandev/assent/internal/testlog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBuffer(t *testing.T) {
	var b testlog.Buffer
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { b.Logger().Debug("one line") })
	}
	all.Wait()
	assert.Equal(t, 20, b.Count("level=DEBUG msg=\"one line\"\n"))
	assert.Zero(t, b.Count("another"))
}
