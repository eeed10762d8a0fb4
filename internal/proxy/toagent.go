package proxy

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// maxQueued bounds the lines of our own that wait for the agent to read. Then the
// agent is not read either, until it does. An answer of the client may wait with them.
const maxQueued = 8192

// toAgent writes lines to the agent: those of the client by the goroutine that
// reads the client, and our own, and answers of the client, by the one that reads the
// agent. That one must not wait for the agent to read, for both would wait for ever:
// what the agent does not take at once is queued.
// What is queued is written before any line of the client that comes later.
type toAgent struct {
	writing sync.Mutex // one writer at a time
	w       io.WriteCloser
	try     func([]byte) int // writes what the agent takes without being waited for; nil for nothing
	cut     bool             // what was written last has no line end
	err     error
	calm    atomic.Bool  // something was written: see paced
	begun   atomic.Int64 // when the write that goes on began, in nanoseconds of the clock; 0 for none

	mu     sync.Mutex
	queue  [][]byte
	closed bool
	room   *sync.Cond
	wake   chan struct{}
}

func newToAgent(w io.WriteCloser, try func([]byte) int) *toAgent {
	a := &toAgent{w: w, try: try, wake: make(chan struct{}, 1)}
	a.room = sync.NewCond(&a.mu)
	return a
}

// queueLine writes a line of our own, which is without a line end, or queues what the
// agent does not take at once. It waits while too much is queued.
func (a *toAgent) queueLine(line []byte) {
	line = append(line, '\n')
	if a.atOnce(line) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.queue) >= maxQueued && !a.closed {
		a.room.Wait()
	}
	a.add(line)
}

// queued is how many lines wait for the agent.
func (a *toAgent) queued() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.queue)
}

// pass is relay for whoever must not wait: what the agent does not take is queued.
func (a *toAgent) pass(line []byte) {
	if a.atOnce(line) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.add(bytes.Clone(line))
}

// atOnce writes a line if nothing waits before it and the agent takes it. If it takes
// a part of it, the rest is queued: before any other line, for nobody else can write.
func (a *toAgent) atOnce(line []byte) bool {
	if a.try == nil || !a.writing.TryLock() {
		return false
	}
	defer a.writing.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) > 0 || a.closed || a.cut || a.err != nil {
		return false
	}
	a.calm.Store(true)
	n := a.try(line)
	if n > 0 && n < len(line) {
		a.add(bytes.Clone(line[n:]))
	}
	return n > 0
}

// add queues a line. The caller holds mu.
func (a *toAgent) add(line []byte) {
	if a.closed {
		return
	}
	a.queue = append(a.queue, line)
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// relay writes a line of the client with the end that it has, and then lines of
// our own, which have none.
func (a *toAgent) relay(line []byte, then ...[]byte) {
	a.writing.Lock()
	defer a.writing.Unlock()
	a.drain()
	a.write(line)
	for _, l := range then {
		a.write(append(l, '\n'))
	}
}

// serve writes what is queued until the end.
func (a *toAgent) serve() {
	for range a.wake {
		a.writing.Lock()
		a.drain()
		a.writing.Unlock()
	}
}

// drain writes the queue. The caller holds writing.
func (a *toAgent) drain() {
	for {
		a.mu.Lock()
		lines := a.queue
		a.queue = nil
		a.room.Broadcast()
		a.mu.Unlock()
		if len(lines) == 0 {
			return
		}
		for _, l := range lines {
			a.write(l)
		}
	}
}

// write writes, until the first error: the agent has gone. What comes behind the
// client's last line, which may have no end, is a line of its own.
func (a *toAgent) write(line []byte) {
	if a.err != nil || len(line) == 0 {
		return
	}
	if a.cut {
		line = append([]byte{'\n'}, line...)
	}
	a.cut = line[len(line)-1] != '\n'
	a.calm.Store(true)
	a.begun.Store(time.Now().UnixNano())
	_, a.err = a.w.Write(line)
	a.begun.Store(0)
}

// stuck says whether a write has been waiting for the agent to read.
func (a *toAgent) stuck(d time.Duration) bool {
	begun := a.begun.Load()
	return begun != 0 && time.Since(time.Unix(0, begun)) > d
}

// end writes what is queued and closes the agent's input.
func (a *toAgent) end() {
	a.writing.Lock()
	defer a.writing.Unlock()
	a.drain()
	a.stop()
	_ = a.w.Close()
}

// stop lets nobody wait or queue any more.
func (a *toAgent) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.closed, a.queue = true, nil
		close(a.wake)
		a.room.Broadcast()
	}
}
