package upstream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"mime"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	eventStream = "text/event-stream"
	// After a stream ended, the next one is asked for with growing delays.
	firstDelay, lastDelay = 500 * time.Millisecond, 30 * time.Second
)

func mediaType(h http.Header) string {
	name, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return name
}

// watch keeps a stream open for what the target sends on its own, where the
// transport needs one.
func (c *Client) watch() {
	listen := c.stream
	switch {
	case c.Modern():
		listen = c.subscribe
	case c.web == nil || c.peer.conn.SessionID() == "":
		return // it comes by the connection itself, or there is no session to send it to
	}
	c.watching.Go(func() {
		delay := firstDelay
		for {
			begun := time.Now()
			if !listen(c.peer.ctx) {
				return
			}
			if time.Since(begun) > lastDelay {
				delay = firstDelay
			}
			select {
			case <-c.peer.ctx.Done():
				return
			case <-time.After(delay):
			}
			delay = min(2*delay, lastDelay)
		}
	})
}

// subscribe asks a target without handshake for its changes (MCP 2026-07-28,
// subscriptions/listen). It is false when there is nothing to be had.
func (c *Client) subscribe(ctx context.Context) bool {
	wanted := map[string]bool{}
	if has := c.server.Capabilities; has != nil {
		wanted["toolsListChanged"] = has.Tools != nil && has.Tools.ListChanged
		wanted["promptsListChanged"] = has.Prompts != nil && has.Prompts.ListChanged
		wanted["resourcesListChanged"] = has.Resources != nil && has.Resources.ListChanged
	}
	if !wanted["toolsListChanged"] && !wanted["promptsListChanged"] && !wanted["resourcesListChanged"] {
		return false
	}
	_, err := c.peer.call(ctx, "subscriptions/listen", map[string]any{"_meta": c.meta(nil, true), "notifications": wanted})
	return answered(err) == nil && ctx.Err() == nil
}

// stream reads the stream that a session may have for itself. It is false when
// the target has none.
func (c *Client) stream(ctx context.Context) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.web.target.String(), nil)
	if err != nil {
		return false
	}
	r.Header.Set("Accept", eventStream)
	r.Header.Set("Mcp-Session-Id", c.peer.conn.SessionID())
	status := c.web.status.Load()
	res, err := c.web.client().Do(r)
	if err != nil {
		return ctx.Err() == nil
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK || mediaType(res.Header) != eventStream {
		c.web.status.Store(status) // that it has none says nothing about calls
		return res.StatusCode >= http.StatusInternalServerError
	}
	events := bufio.NewReader(res.Body)
	for {
		data, err := nextEvent(events, c.options.MaxMessage)
		if err != nil {
			return ctx.Err() == nil
		}
		message, err := jsonrpc.DecodeMessage(data)
		if err != nil {
			continue // it answers nothing, so nobody waits for it
		}
		if m, ok := message.(*jsonrpc.Request); ok {
			c.peer.take(m)
		}
	}
}

var errTooLong = errors.New("a message is too long")

// nextEvent is the data of the next event that has any.
func nextEvent(r *bufio.Reader, limit int64) ([]byte, error) {
	var data []byte
	for {
		line, err := readLine(r, limit-int64(len(data)))
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			if len(data) > 0 {
				return bytes.TrimSuffix(data, []byte("\n")), nil
			}
			continue
		}
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
		}
	}
}

// readLine is the next line without its end, of at most limit bytes.
func readLine(r *bufio.Reader, limit int64) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if int64(len(line)) > limit+2 {
			return nil, errTooLong
		}
		switch {
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
