package process

import "sync"

// Bounds of what waits to be written to an agent.
const (
	maxQueuedLines = 8192
	maxQueuedBytes = 64 << 20 // beyond the line that is alone in the queue
)

// outLine is one line to the agent.
type outLine struct {
	line []byte
	// authorization is the header value that a session request's injected entry
	// carries; the decoder needs it. It is a secret.
	authorization string
}

// outbox is the bounded queue of lines to one agent. The goroutine that reads
// the agent must never wait for the agent to read: both would wait for ever.
type outbox struct {
	mu     sync.Mutex
	queue  []outLine
	bytes  int
	closed bool
	wake   chan struct{}
}

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1)} }

// push queues lines that stay together. It fails with [ErrEnded] after close and
// with [ErrNotReading] when the queue is full.
func (o *outbox) push(lines ...outLine) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return ErrEnded
	}
	size := 0
	for _, l := range lines {
		size += len(l.line)
	}
	if len(o.queue) > 0 && (len(o.queue)+len(lines) > maxQueuedLines || o.bytes+size > maxQueuedBytes) {
		return ErrNotReading
	}
	o.queue = append(o.queue, lines...)
	o.bytes += size
	o.signal()
	return nil
}

// close lets next come to an end after what is queued.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.signal()
}

// drop forgets what is queued.
func (o *outbox) drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed, o.queue, o.bytes = true, nil, 0
	o.signal()
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// next waits for the next line; false means that there will be none. It is for
// one goroutine.
func (o *outbox) next() (outLine, bool) {
	for {
		o.mu.Lock()
		if len(o.queue) > 0 {
			l := o.queue[0]
			o.queue[0] = outLine{}
			if o.queue = o.queue[1:]; len(o.queue) == 0 {
				o.queue = nil
			}
			o.bytes -= len(l.line)
			o.mu.Unlock()
			return l, true
		}
		closed := o.closed
		o.mu.Unlock()
		if closed {
			return outLine{}, false
		}
		<-o.wake
	}
}
