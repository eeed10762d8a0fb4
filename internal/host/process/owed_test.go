package process

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/endpoint"
)

// An answer that somebody has won, but not written yet, is written before the
// input of a stopped agent ends.
func TestAStopWaitsForAnswersOnTheirWay(t *testing.T) {
	s := newStage(t, "asks by words")
	i := s.start(t)
	i.owed.more()
	stopped := make(chan struct{})
	go func() { i.Stop(context.Background()); close(stopped) }()
	<-i.ctx.Done() // the end has begun, and every offer in the store is over
	assert.True(t, i.conn.send([]byte(`{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"cancelled"}}}`)))
	i.owed.paid()
	wait(t, stopped)
	assert.Len(t, s.tape.answers(), 1)
}

// A call with a name that no parser took is reported without it, also where the
// name could be mended.
func TestAnUnaskedCallWithAnOddNameIsReportedWithoutIt(t *testing.T) {
	s := newStage(t, "asks by words", injected(nil))
	session := s.session(t)
	id, ok := session.EndpointSession()
	require.True(t, ok)
	var log strings.Builder
	i := session.instance
	i.log = slog.New(slog.NewTextHandler(&log, nil))
	i.nets.Arrived(id, endpoint.Arrival{Tool: "list tasks canary"})
	i.nets.Arrived(id, endpoint.Arrival{Tool: listTool})
	assert.NotContains(t, log.String(), "canary")
	assert.Equal(t, 1, strings.Count(log.String(), listTool))
	assert.Equal(t, 2, strings.Count(log.String(), "nobody had been asked"))
}

func TestACommandIsLoggedByItsNameAlone(t *testing.T) {
	var log strings.Builder
	for _, h := range []slog.Handler{slog.NewJSONHandler(&log, nil), slog.NewTextHandler(&log, nil)} {
		slog.New(h).Info("x", "command", Command{Path: "/bin/agent", Args: []string{"--key", "canary"}, Env: []string{"KEY=canary"}})
	}
	assert.NotContains(t, log.String(), "canary")
	assert.Equal(t, 2, strings.Count(log.String(), "2 args, 1 env"))
}
