package gateway

import (
	"context"
	"time"

	"github.com/coder/websocket"
)

// farewell is what a client gets to read what still waits, when it is given up.
const farewell = 5 * time.Second

// write sends what the outbox has, numbering events, until it is over.
func (c *client) write(ctx context.Context) {
	var batch []outgoing
	var scratch []byte
	var seq uint64
	for {
		var over bool
		batch, over = c.out.take(batch)
		for i, m := range batch {
			frame := m.reply
			if m.event != nil {
				seq++
				scratch = m.event.appendTo(scratch[:0], seq)
				frame = scratch
			}
			if c.conn.Write(ctx, websocket.MessageText, frame) != nil {
				c.out.end(clientLeft, "")
				_ = c.conn.CloseNow()
				return
			}
			batch[i] = outgoing{}
		}
		if len(batch) > 0 {
			c.out.done()
		}
		if over {
			if code, reason := c.out.why(); code != clientLeft {
				_ = c.conn.Close(code, reason)
			}
			_ = c.conn.CloseNow()
			return
		}
		select {
		case <-c.out.wake:
		case <-ctx.Done():
			_ = c.conn.CloseNow()
			return
		}
	}
}

// ping finds out whether the client is still there. When the client is given up, or
// leaves a ping unanswered, it cuts the connection after a while.
func (c *client) ping(ctx context.Context, cut func()) {
	ticker := time.NewTicker(c.g.opts.Limits.PingInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			within, stop := context.WithTimeout(ctx, c.g.opts.Limits.PingTimeout)
			err := c.conn.Ping(within)
			stop()
			if err == nil {
				continue
			}
			c.out.end(websocket.StatusPolicyViolation, "no answer to a ping")
		case <-c.out.ended:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(farewell):
			cut()
		case <-ctx.Done():
		}
		return
	}
}
