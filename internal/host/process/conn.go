package process

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline/acp"
)

// Recorder is given every line of a connection, in the order in which the
// decisions see them. See package record.
type Recorder interface {
	Agent(line []byte) error
	Client(line []byte) error
	// Hide keeps a secret out of what comes later.
	Hide(secret string)
}

// client is who is told what the agent sends. Its methods are called one after
// the other, in the order of the lines, by the goroutine that reads; a line is
// valid during the call.
type client interface {
	forwardPermissionRequest(o *acp.Offer, line []byte)
	sessionUpdate(m acp.Message)
	startupFailed(session string)
	unreadable()
	cancelRequest(line []byte)
}

// conn is the ACP connection to one agent.
type conn struct {
	decoder  *acp.Decoder
	recorder Recorder // may be nil
	client   client
	log      *slog.Logger
	redact   func(string) string
	maxLine  int

	// tap keeps decoder and recorder at one order of both directions.
	tap          sync.Mutex
	recordBroken bool

	out   *outbox
	calls calls

	// broken is told, once, why the connection cannot go on.
	broken func(error)
}

// read reads the agent's lines to their end.
func (c *conn) read(r io.Reader) {
	lines := acp.NewReader(r, c.maxLine)
	var long *acp.LineTooLongError
	for {
		line, err := lines.ReadLine()
		switch {
		case err == nil:
			c.take(line)
		case errors.As(err, &long):
			c.log.Warn("a line of the agent is too long and was skipped", "limit", long.Limit)
			c.client.unreadable()
		case errors.Is(err, acp.ErrCutLine):
			c.log.Warn("the agent's output ends in the middle of a line", "bytes", len(line))
			return
		default: // the end, or the deadline after the agent has gone
			return
		}
	}
}

// take handles one line of the agent.
func (c *conn) take(line []byte) {
	m, err := c.fromAgent(line)
	switch {
	case errors.Is(err, acp.ErrBlank):
	case errors.Is(err, acp.ErrBatch):
		c.log.Warn("the agent sent a JSON-RPC batch, which is refused", "bytes", len(line))
		c.send(acp.BatchRefusal())
		c.client.unreadable()
	case err != nil:
		c.log.Debug("a line of the agent is no message", "bytes", len(line))
	case m.Offer != nil:
		c.client.forwardPermissionRequest(m.Offer, m.Line)
	default:
		c.dispatch(m)
	}
}

// dispatch handles every message but an offer.
func (c *conn) dispatch(m acp.Message) {
	for _, session := range m.Alarmed {
		c.client.startupFailed(session)
	}
	switch {
	case m.Kind == acp.KindResponse:
		c.deliver(m)
	case m.Method == acp.MethodRequestPermission:
		// No id, or one that JSON-RPC does not allow: there is nothing to answer to.
		c.log.Warn("a permission request of the agent cannot be answered and is ignored", "bytes", len(m.Line))
	case m.Kind == acp.KindRequest:
		c.log.Debug("the agent sent a request that this client does not serve", "bytes", len(m.Line))
		c.send(methodNotFound(m.ID))
	case m.Kind == acp.KindNotification && m.Method == acp.MethodUpdate:
		c.client.sessionUpdate(m)
	case m.Kind == acp.KindNotification && m.Method == acp.MethodCancelRequest:
		c.client.cancelRequest(m.Line)
	default:
		c.log.Debug("a message of the agent has no meaning here", "bytes", len(m.Line))
	}
}

func (c *conn) deliver(m acp.Message) {
	p := c.calls.take(m.ID.String())
	if p == nil {
		c.log.Debug("the agent answered no request of ours", "bytes", len(m.Line))
		return
	}
	p.settle(readResponse(p.method, m.Line, c.redact))
}

// fromAgent is where a line of the agent becomes known.
func (c *conn) fromAgent(line []byte) (acp.Message, error) {
	c.tap.Lock()
	defer c.tap.Unlock()
	if c.recorder != nil {
		c.recorded(c.recorder.Agent(line))
	}
	return c.decoder.FromAgent(line)
}

// toAgent is where a line to the agent becomes known, before it is written.
func (c *conn) toAgent(l outLine) {
	c.tap.Lock()
	defer c.tap.Unlock()
	if c.recorder != nil {
		c.recorded(c.recorder.Client(l.line))
	}
	if _, err := c.decoder.FromClient(l.line, l.authorization); err != nil {
		c.log.Error("a line of ours is no message", "bytes", len(l.line)) // cannot happen
	}
}

// recorded reports the first failure. A recording never stops an agent.
func (c *conn) recorded(err error) {
	if err != nil && !c.recordBroken {
		c.recordBroken = true
		c.log.Error("the recording failed and is not complete", "error", err)
	}
}

// write writes queued lines until the queue is closed, then closes w: the agent
// sees the end of its input.
func (c *conn) write(w io.WriteCloser) {
	defer func() { _ = w.Close() }()
	lines := acp.NewWriter(w)
	for {
		l, ok := c.out.next()
		if !ok {
			return
		}
		c.toAgent(l)
		if err := lines.WriteLine(l.line); err != nil {
			c.out.drop()
			c.broken(ErrNotReading)
			return
		}
	}
}

// send queues an answer. An agent that does not read its answers is stopped. It
// says whether the answer will be written.
func (c *conn) send(line []byte) bool {
	err := c.out.push(outLine{line: line})
	if errors.Is(err, ErrNotReading) {
		c.broken(err)
	}
	return err == nil
}

// request is a request of ours.
type request struct {
	method string
	params any
	// authorization is what the injected entry in params carries. It is a secret.
	authorization string
	then          then
}

// call sends a request and waits for its answer.
func (c *conn) call(ctx context.Context, r request) (jsontext.Value, error) {
	p, err := c.start(r)
	if err != nil {
		return nil, err
	}
	return c.calls.wait(ctx, p)
}

// start sends a request.
func (c *conn) start(r request) (*pendingCall, error) {
	p, err := c.calls.begin(r.method, r.then)
	if err != nil {
		return nil, err
	}
	line, err := newMessage(p.id, r.method, r.params)
	if err == nil {
		err = c.out.push(outLine{line, r.authorization})
	}
	if err != nil {
		c.calls.take(p.id)
		return nil, err
	}
	return p, nil
}
