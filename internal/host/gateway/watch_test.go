package gateway

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/dispatch"
)

// watching registers state.watch, which refuses what a person may not see.
func (s *stand) watching(t testing.TB, meanwhile func()) {
	s.action(t, "state.watch", dispatch.ScopeView, func(_ context.Context, o dispatch.Origin, payload jsontext.Value) (any, error) {
		var ask anything
		if err := json.Unmarshal(payload, &ask); err != nil {
			return nil, err
		}
		if p, _ := o.Person(); ask.Task != "" && (ask.Task == "none" || !maySee(p, "", ask.Task)) {
			return nil, &dispatch.Error{Code: dispatch.CodeNotFound, Message: "there is no such task"}
		}
		if meanwhile != nil {
			meanwhile()
		}
		return map[string]string{"server": "run-1"}, nil
	})
}

func (s *stand) publish(t testing.TB, task string, n int) {
	t.Helper()
	require.NoError(t, s.Publish(Event{Name: "task.changed", Task: task, Payload: map[string]int{"n": n}}))
}

func changed(seq, n int) string {
	return fmt.Sprintf(`{"event":"task.changed","seq":%d,"payload":{"n":%d}}`, seq, n)
}

const watchAll, watched = `{"id":1,"action":"state.watch"}`, `{"id":1,"action":"state.watch","result":{"server":"run-1"}}`

// Nothing comes without asking; after the state come the events, those in between too.
func TestWatch(t *testing.T) {
	s := begin(t, nil)
	var once sync.Once
	s.watching(t, func() { once.Do(func() { s.publish(t, "t1", 2) }) })
	p, silent := s.dial(t, "s3cret"), s.dial(t, "wall")
	s.publish(t, "t1", 1)
	assert.Equal(t, watched, p.ask(t, watchAll))
	assert.Equal(t, changed(1, 2), p.receive(t))
	s.publish(t, "t1", 3)
	s.publish(t, "", 4)
	assert.Equal(t, changed(2, 3), p.receive(t))
	assert.Equal(t, changed(3, 4), p.receive(t))
	silent.alive(t)

	// Who watches anew watches that alone, and the numbers go on.
	assert.Equal(t, watched, p.ask(t, `{"id":1,"action":"state.watch","payload":{"task":"t2"}}`))
	s.publish(t, "t1", 5)
	s.publish(t, "t2", 6)
	assert.Equal(t, changed(4, 6), p.receive(t))
	p.alive(t)
}

func TestG12WhatOneMayNotSee(t *testing.T) {
	s := begin(t, nil)
	s.watching(t, nil)
	guest, owner := s.dial(t, "guest"), s.dial(t, "s3cret")
	const ask = `{"id":1,"action":"state.watch","payload":{"task":"%s"}}`
	refused := guest.ask(t, fmt.Sprintf(ask, "t1"))
	assert.Equal(t, dispatch.CodeNotFound, codeOf(t, refused))
	assert.Equal(t, refused, guest.ask(t, fmt.Sprintf(ask, "none")), "like one that does not exist")
	assert.Equal(t, watched, owner.ask(t, fmt.Sprintf(ask, "t1")))
	s.publish(t, "t1", 1)
	assert.Equal(t, changed(1, 1), owner.receive(t))
	guest.alive(t) // nothing came before the answer

	assert.Equal(t, watched, guest.ask(t, watchAll), "everything that it may see")
	s.publish(t, "t1", 2)
	s.publish(t, "t2", 3)
	assert.Equal(t, changed(1, 3), guest.receive(t))
	assert.Equal(t, dispatch.CodeNotFound, codeOf(t, guest.ask(t, fmt.Sprintf(ask, "t1"))))
	s.publish(t, "t2", 4)
	assert.Equal(t, changed(2, 4), guest.receive(t), "what it watched before goes on")
}

// An event that says itself who sees it is told to those alone, also when it comes
// while a client begins to watch.
func TestAnEventThatSaysWhoSeesIt(t *testing.T) {
	s := begin(t, nil)
	publish := func(n int) {
		sees := func(p dispatch.Person, watched string) bool { return p.Name == "guest" && watched == "t2" }
		require.NoError(t, s.Publish(Event{Name: "task.changed", Task: "t1", MaySee: sees, Payload: map[string]int{"n": n}}))
	}
	s.watching(t, func() { publish(1) })
	guest, owner := s.dial(t, "guest"), s.dial(t, "s3cret")
	const ask = `{"id":1,"action":"state.watch","payload":{"task":"t2"}}`
	assert.Equal(t, watched, guest.ask(t, ask))
	assert.Equal(t, changed(1, 1), guest.receive(t))
	publish(2)
	assert.Equal(t, changed(2, 2), guest.receive(t))
	assert.Equal(t, watched, owner.ask(t, watchAll))
	assert.Equal(t, changed(3, 1), guest.receive(t))
	s.publish(t, "t1", 4)
	assert.Equal(t, changed(1, 4), owner.receive(t), "all that it may see by the usual rule")
	guest.alive(t)
}

func TestEventsThatCannotBeWritten(t *testing.T) {
	s := begin(t, nil)
	assert.EqualError(t, s.Publish(Event{Name: "broken", Payload: make(chan int)}), `gateway: event "broken" cannot be written as JSON (*json.SemanticError)`)
	assert.NoError(t, s.Publish(Event{Name: "good"}))
}

// A client that does not read is dropped, and told why; the others get everything.
func TestSlowReader(t *testing.T) {
	s := begin(t, func(o *Options) { o.Limits.OutboxMessages = 64 })
	s.watching(t, nil)
	slow, quick := s.dial(t, "s3cret"), s.dial(t, "wall")
	assert.Equal(t, watched, slow.ask(t, watchAll))
	assert.Equal(t, watched, quick.ask(t, watchAll))
	text := strings.Repeat("x", 1<<18)
	ended := s.clientOf("desk").out.ended
	for n, given := 1, false; !given; n++ {
		require.NoError(t, s.Publish(Event{Name: "task.text", Payload: text}))
		assert.True(t, strings.HasPrefix(quick.receive(t), fmt.Sprintf(`{"event":"task.text","seq":%d,`, n)))
		select {
		case <-ended:
			given = true
		default:
			require.Less(t, n, 1000)
		}
	}
	assert.Equal(t, websocket.CloseError{Code: websocket.StatusPolicyViolation, Reason: slowReader}, slow.closed(t))
	quick.alive(t)
}

// One that never reads again is cut after a while, in the middle of a message.
func TestStuckReader(t *testing.T) {
	s := begin(t, func(o *Options) {
		o.Limits.OutboxMessages = 4
		o.Limits.PingInterval, o.Limits.PingTimeout = 20*time.Millisecond, 20*time.Millisecond
	})
	s.watching(t, nil)
	stuck := s.rawSocket(t)
	for range 3 { // a half message holds the reading end, too
		_, err := stuck.Write([]byte{0x81, 0x82, 0, 0, 0, 0})
		require.NoError(t, err)
		_, err = stuck.Write([]byte("{}"))
		require.NoError(t, err)
	}
	_, err := stuck.Write([]byte{0x81, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, '{'})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return s.count() == 0 }, 2*farewell, 10*time.Millisecond, "it leaves nothing behind")
	s.dial(t, "s3cret").alive(t)
}

// clientOf is the one client of a person.
func (s *stand) clientOf(name string) *client {
	s.Gateway.mu.Lock()
	defer s.Gateway.mu.Unlock()
	for c := range s.clients {
		if c.person.Name == name {
			return c
		}
	}
	return nil
}

func (s *stand) count() int {
	s.Gateway.mu.Lock()
	defer s.Gateway.mu.Unlock()
	return len(s.clients)
}

func TestPing(t *testing.T) {
	s := begin(t, func(o *Options) { o.Limits.PingInterval, o.Limits.PingTimeout = 10*time.Millisecond, time.Second })
	p := s.dial(t, "s3cret")
	late := time.AfterFunc(100*time.Millisecond, func() { _ = s.Publish(Event{Name: "good"}) })
	defer late.Stop()
	s.watching(t, nil)
	assert.Equal(t, watched, p.ask(t, watchAll))
	assert.Contains(t, p.receive(t), "good", "who answers pings stays")
	p.alive(t)
}

// Requests of one client run at the same time, but not too many.
func TestConcurrent(t *testing.T) {
	s := begin(t, func(o *Options) { o.Limits.Concurrent = 2 })
	gate := make(chan struct{})
	s.action(t, "task.list", dispatch.ScopeView, func(context.Context, dispatch.Origin, jsontext.Value) (any, error) {
		<-gate
		return nil, nil
	})
	p := s.dial(t, "s3cret")
	p.send(t, `{"id":1,"action":"task.list"}`)
	p.send(t, `{"id":2,"action":"task.list"}`)
	require.Eventually(t, func() bool { return len(s.asked()) == 2 }, 10*time.Second, time.Millisecond)
	assert.Equal(t, `{"id":3,"action":"task.list","error":{"code":"rate_limited","message":"too many requests of this client run at once"}}`, p.ask(t, `{"id":3,"action":"task.list"}`))
	assert.Equal(t, dispatch.CodeForbidden, codeOf(t, p.ask(t, `{"id":4,"action":"mcp.x"}`)), "what needs no place is answered")
	close(gate)
	for range 2 {
		assert.Contains(t, p.receive(t), `"result":null`)
	}
}

// A request ends with its client.
func TestClientLeaves(t *testing.T) {
	s := begin(t, nil)
	ended := make(chan error, 1)
	s.action(t, "task.list", dispatch.ScopeView, func(ctx context.Context, _ dispatch.Origin, _ jsontext.Value) (any, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	})
	p := s.dial(t, "s3cret")
	p.send(t, `{"id":1,"action":"task.list"}`)
	require.Eventually(t, func() bool { return len(s.asked()) == 1 }, 10*time.Second, time.Millisecond)
	require.NoError(t, p.conn.CloseNow())
	assert.ErrorIs(t, <-ended, context.Canceled)
}

func TestGracefulEnd(t *testing.T) {
	s := begin(t, nil)
	gate := make(chan struct{})
	s.action(t, "task.list", dispatch.ScopeView, func(context.Context, dispatch.Origin, jsontext.Value) (any, error) {
		<-gate
		return "done", nil
	})
	p, idle, stranger := s.dial(t, "s3cret"), s.dial(t, "wall"), s.dial(t, "")
	p.send(t, `{"id":1,"action":"task.list"}`)
	require.Eventually(t, func() bool { return len(s.asked()) == 1 }, 10*time.Second, time.Millisecond)
	ended := make(chan error)
	go func() { ended <- s.Shutdown(context.Background()) }()
	require.Eventually(t, s.draining, 10*time.Second, time.Millisecond)
	answer, body := s.get(t, "GET", "/readyz", nil)
	assert.Equal(t, 503, answer.StatusCode)
	assert.Equal(t, "the server ends\n", body)
	assert.Equal(t, 503, s.upgrade(t))
	assert.Equal(t, dispatch.CodeUnavailable, codeOf(t, p.ask(t, `{"id":2,"action":"task.list"}`)))
	close(gate)
	assert.Equal(t, `{"id":1,"action":"task.list","result":"done"}`, p.receive(t), "what runs is let finish")
	for _, c := range []*peer{p, idle, stranger} {
		assert.Equal(t, websocket.CloseError{Code: websocket.StatusGoingAway, Reason: "the server ends"}, c.closed(t))
	}
	assert.NoError(t, <-ended)
	_, err := net.Dial("tcp", s.host)
	assert.Error(t, err)
}

// What does not end in time is cut.
func TestEndInTime(t *testing.T) {
	s := begin(t, nil)
	s.action(t, "task.list", dispatch.ScopeView, func(ctx context.Context, _ dispatch.Origin, _ jsontext.Value) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	p := s.dial(t, "s3cret")
	p.send(t, `{"id":1,"action":"task.list"}`)
	require.Eventually(t, func() bool { return len(s.asked()) == 1 }, 10*time.Second, time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	assert.ErrorIs(t, s.Shutdown(ctx), context.DeadlineExceeded)
	_, _, err := p.conn.Read(p.ctx)
	for err == nil {
		_, _, err = p.conn.Read(p.ctx)
	}
	assert.Zero(t, s.count())
}
