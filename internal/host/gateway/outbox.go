package gateway

import (
	"sync"

	"github.com/coder/websocket"
)

// outgoing is one message for a client: a reply as it is sent, or an event.
type outgoing struct {
	reply []byte
	event *event
}

func (o outgoing) size() int {
	if o.event != nil {
		return len(o.event.head) + len(o.event.rest)
	}
	return len(o.reply)
}

// outbox is what waits to be written to one client. Nobody who puts something in
// ever waits: when it is full the client is given up.
type outbox struct {
	maxMessages, maxBytes int
	wake                  chan struct{} // there is something to do
	ended                 chan struct{} // closed when nothing is taken in any more

	mu      sync.Mutex
	queue   []outgoing
	bytes   int
	writing bool // somebody writes to the client
	over    bool
	code    websocket.StatusCode // why it is over
	reason  string
}

func newOutbox(l Limits) *outbox {
	return &outbox{maxMessages: l.OutboxMessages, maxBytes: l.OutboxBytes, wake: make(chan struct{}, 1), ended: make(chan struct{})}
}

// slowReader is why a client that does not read is dropped.
const slowReader = "slow reader: too much was waiting for this client"

// put adds messages. When they do not fit, the client is given up. One message fits
// into an empty outbox, however large it is.
func (b *outbox) put(messages ...outgoing) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range messages {
		if b.over {
			return
		}
		if len(b.queue) > 0 && (len(b.queue) >= b.maxMessages || b.bytes+m.size() > b.maxBytes) {
			b.finish(websocket.StatusPolicyViolation, slowReader)
			b.queue, b.bytes = nil, 0
			return
		}
		b.queue = append(b.queue, m)
		b.bytes += m.size()
	}
	b.signal()
}

// end takes nothing more in. What waits is still written; then the client is told
// why. The first reason stays.
func (b *outbox) end(code websocket.StatusCode, reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.finish(code, reason)
}

func (b *outbox) finish(code websocket.StatusCode, reason string) {
	if b.over {
		return
	}
	b.over, b.code, b.reason = true, code, reason
	close(b.ended)
	b.signal()
}

func (b *outbox) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// begin takes the right to write to the client past the outbox, which is there when
// nothing waits and nobody writes. [outbox.done] gives it back.
func (b *outbox) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over || b.writing || len(b.queue) > 0 {
		return false
	}
	b.writing = true
	return true
}

// done ends what begin or take has begun.
func (b *outbox) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writing = false
	if b.over || len(b.queue) > 0 {
		b.signal()
	}
}

// take empties the outbox into a slice, unless somebody writes, with the right to
// write it. It is over when nothing else will come.
func (b *outbox) take(into []outgoing) (messages []outgoing, over bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.writing {
		return into[:0], false
	}
	messages, b.queue = b.queue, into[:0]
	b.bytes = 0
	b.writing = len(messages) > 0
	return messages, b.over
}

// isOver says whether nothing is taken in any more.
func (b *outbox) isOver() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over
}

// why is why it is over.
func (b *outbox) why() (websocket.StatusCode, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.code, b.reason
}
