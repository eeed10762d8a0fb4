package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"

	"github.com/kandev/assent/internal/host/dispatch"
)

const (
	// actionWatch begins events.
	actionWatch = "state.watch"
	// maxSkipped bounds a message that is too large but still read to its end.
	maxSkipped = 16 << 20
	// keptBuffer is how much of a buffer is kept for the next message.
	keptBuffer = 16 << 10
)

// clientLeft is why a connection is over that the client has ended, or that broke.
const clientLeft = websocket.StatusNormalClosure

// client is one WebSocket connection of a person.
type client struct {
	g      *Gateway
	conn   *websocket.Conn
	person dispatch.Person
	out    *outbox
	places chan struct{}   // one for each request that runs
	tasks  sync.WaitGroup  // reading, and requests that run
	buffer bytes.Buffer    // of whoever reads
	gone   chan struct{}   // closed when there is nothing more to read
	ctx    context.Context // ends with the connection
	asking context.Context // of requests: ends when the client leaves or has to
	leave  func()          // ends asking
	drop   func()          // ends the connection at once

	number  uint64 // among those that were admitted
	dropped bool   // it made room for another one

	mu    sync.Mutex
	watch *subscription
}

// serveWebSocket serves a client until it leaves.
func (g *Gateway) serveWebSocket(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor > 1 { // whose answers may not have the headers that an upgrade has
		say(w, http.StatusUpgradeRequired, "WebSocket clients connect over HTTP/1.1")
		return
	}
	c := &client{g: g, out: newOutbox(g.opts.Limits), places: make(chan struct{}, g.opts.Limits.Concurrent), gone: make(chan struct{})}
	ctx, cancel := context.WithCancel(g.ctx)
	defer cancel()
	c.ctx, c.drop = ctx, cancel
	c.asking, c.leave = context.WithCancel(ctx)
	authorized := len(r.Header.Values("Authorization")) > 0
	if authorized {
		if why := c.introduce(bearer(r.Header), r); why != "" {
			g.refuseToken(w, r, "", why)
			return
		}
	}
	switch why := g.admit(c); why {
	case "":
	case refusedClients:
		g.refuseToken(w, r, c.person.Name, why)
		return
	default:
		g.refuse(w, r, c.person.Name, why, http.StatusServiceUnavailable)
		return
	}
	defer g.dismiss(c)
	if authorized {
		if why := c.introduce(bearer(r.Header), r); why != "" {
			g.refuseToken(w, r, "", why)
			return
		}
	}
	// The door has looked at the Origin, more strictly.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // it has answered
	}
	c.conn = conn
	// The library's own ways to close can wait for the rest of a message that never comes.
	socket, _ := r.Context().Value(socketKey{}).(net.Conn)
	cut := func() { cancel(); _ = socket.Close() }
	defer cut()
	defer context.AfterFunc(g.ctx, cut)()
	c.run(ctx, cut, r, authorized)
}

// run lets the client in, reads what it sends, and cleans up.
func (c *client) run(ctx context.Context, cut func(), r *http.Request, authorized bool) {
	c.conn.SetReadLimit(maxSkipped)
	var writing sync.WaitGroup
	writing.Go(func() { defer cut(); c.write(ctx) })
	writing.Go(func() { c.ping(ctx, cut) })
	if authorized || c.authenticate(ctx, r) {
		defer stays(r.Context())()
		c.tasks.Go(c.read)
		<-c.gone
	}
	c.leave()
	c.out.end(clientLeft, "")
	c.tasks.Wait()
	c.mu.Lock()
	c.watch.end()
	c.mu.Unlock()
	writing.Wait()
}

// read takes messages in until the connection ends, the client is given up, or
// somebody else reads on.
func (c *client) read() {
	for {
		raw, failure, err := c.message(c.ctx, c.g.opts.Limits.MaxMessage)
		if err != nil || c.out.isOver() {
			close(c.gone)
			return
		}
		allowed := c.g.requests.allow(c.person.Name) // whatever becomes of the message
		if failure != nil {
			c.answer((&request{}).reply(nil, failure))
		} else if !c.take(raw, allowed) {
			return
		}
	}
}

// message reads one message of at most so many bytes, which are there until the next
// one is read. The rest of a larger one is skipped, so that the connection lives on.
func (c *client) message(ctx context.Context, most int) ([]byte, *dispatch.Error, error) {
	kind, r, err := c.conn.Reader(ctx)
	if err != nil {
		return nil, nil, err
	}
	c.buffer.Reset()
	if c.buffer.Cap() > keptBuffer {
		c.buffer = bytes.Buffer{}
	}
	if _, err := c.buffer.ReadFrom(io.LimitReader(r, int64(most)+1)); err != nil {
		return nil, nil, err
	}
	raw := c.buffer.Bytes()
	if len(raw) > most {
		if _, err := io.Copy(io.Discard, r); err != nil {
			return nil, nil, err
		}
		return nil, &dispatch.Error{Code: dispatch.CodeTooLarge, Message: "the message is larger than the cap"}, nil
	}
	if kind != websocket.MessageText {
		return nil, invalid("a message is text, not binary"), nil
	}
	return raw, nil, nil
}

// take answers one message, which its token's rate allows or not, and says whether its
// caller reads on.
func (c *client) take(raw []byte, allowed bool) bool {
	r, failure := readRequest(raw)
	switch {
	case failure != nil:
	case dispatch.Internal(r.name):
		failure = dispatch.RawInternal()
		c.g.refusals.log("internal_action_of_raw_client", nil, c.person.Name)
	case !allowed:
		failure = &dispatch.Error{Code: dispatch.CodeRateLimited, Message: "this token sends too many requests"}
	default:
		select {
		case c.places <- struct{}{}:
			return c.serve(&r)
		default:
			failure = &dispatch.Error{Code: dispatch.CodeRateLimited, Message: "too many requests of this client run at once"}
		}
	}
	c.answer(r.reply(nil, failure))
	return true
}

// serve runs a request, and says whether its caller reads on.
func (c *client) serve(r *request) bool {
	t := c.g.turns.begin(func() { c.tasks.Go(c.read) })
	c.dispatch(c.asking, r)
	<-c.places
	return c.g.turns.end(t)
}

// dispatch hands a request on and sends the answer.
func (c *client) dispatch(ctx context.Context, r *request) {
	if !c.g.begin() {
		c.answer(r.reply(nil, &dispatch.Error{Code: dispatch.CodeUnavailable, Message: "the server ends"}))
		return
	}
	if r.name == actionWatch {
		defer c.g.running.Done()
		c.startWatch(ctx, r)
		return
	}
	result, failure := c.ask(ctx, r)
	c.answerOf(r.reply(result, failure), c.g.running.Done)
}

// answer sends a reply.
func (c *client) answer(reply []byte) { c.answerOf(reply, func() {}) }

// answerOf sends a reply: at once where nothing waits, else through the outbox. Over says
// that the request is over; the reply is still sent, to a client that reads.
func (c *client) answerOf(reply []byte, over func()) {
	if !c.out.begin() {
		c.out.put(outgoing{reply: reply})
		over()
		return
	}
	defer c.out.done()
	over()
	if c.conn.Write(c.ctx, websocket.MessageText, reply) != nil {
		c.out.end(clientLeft, "")
	}
}

// ask calls the dispatcher.
func (c *client) ask(ctx context.Context, r *request) (any, *dispatch.Error) {
	result, err := c.g.opts.Dispatcher.Dispatch(ctx, dispatch.FromRawClient(c.person), r.name, r.payload)
	if err == nil {
		return result, nil
	}
	failure := (*dispatch.Error)(nil)
	if !errors.As(err, &failure) {
		failure = &dispatch.Error{Code: dispatch.CodeInternal, Message: "the request failed"}
	}
	return nil, failure
}

// startWatch sends the state and then events. Events are held back from before the
// state is made, so that none is missed; where the state is refused none is sent. A
// client watches one thing at a time: the later request counts.
func (c *client) startWatch(ctx context.Context, r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := c.g.hub.subscribe(c.person, c.out)
	result, failure := c.ask(ctx, r)
	var watched struct {
		Task string `json:"task"`
	}
	if failure == nil && len(r.payload) > 0 && json.Unmarshal(r.payload, &watched) != nil {
		failure = &dispatch.Error{Code: dispatch.CodeInvalidPayload, Message: "task is not a text"}
	}
	if failure != nil {
		next.end()
		c.out.put(outgoing{reply: r.reply(nil, failure)})
		return
	}
	next.begin(r.reply(result, nil), watched.Task, c.watch)
	c.watch = next
}
