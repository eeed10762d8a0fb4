package state

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/testlog"
)

// A start that waits for a cluster which does not answer says so, and ends with its
// context.
func TestTheStartWaitsForACluster(t *testing.T) {
	var log testlog.Buffer
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = silent.Close() }()
	where := silent.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opened := make(chan error, 1)
	go func() {
		_, err := Open(ctx, Options{URL: "nats://me:sesame@" + where + ",nats://" + where, Logger: log.Logger()})
		opened <- err
	}()
	require.Eventually(t, func() bool { return log.Count("the NATS server does not answer yet") == 1 }, connectWithin, time.Millisecond)
	assert.Contains(t, log.String(), where)
	began := time.Now()
	cancel()
	err = <-opened
	assert.Less(t, time.Since(began), connectWithin/2)
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorContains(t, err, "state: no longer waiting for the NATS server at "+where)
	assert.NotContains(t, err.Error()+log.String(), "sesame")
}

// The end of what the start was bounded by ends nothing that was opened, and it is
// opened again when it is lost.
func TestTheStoreOutlivesItsStart(t *testing.T) {
	var log testlog.Buffer
	c := startCluster(t)
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Open(ctx, Options{URL: c.url(), Creds: c.creds, Logger: log.Logger()})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	cancel()
	b := bucket(t, s, "things")
	_, err = b.Create(t.Context(), "a", nil)
	require.NoError(t, err)
	c.stop()
	require.Eventually(t, func() bool { return log.Count("the connection to the NATS server is lost") == 1 }, 20*time.Second, time.Millisecond)
	c.start(t)
	require.Eventually(t, func() bool { _, err := b.Create(t.Context(), "b", nil); return err == nil }, 30*time.Second, 10*time.Millisecond)
	assert.Zero(t, log.Count("the NATS server does not answer yet"))
}
