package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// cancelGrace is how long the answer to a call is still read after the call was
// given up, so that the target learns of it before its stream is cut.
const cancelGrace = time.Second

// peer is JSON-RPC over one connection to the target. Parameters and results stay
// the bytes that were sent.
type peer struct {
	conn   mcp.Connection
	handle Handler
	fail   func(error) error // makes the error that callers get
	ctx    context.Context   // ends with the connection
	cancel context.CancelFunc
	tasks  sync.WaitGroup // whatever uses the connection

	// farewells are being told to the target: calls that were given up.
	farewells sync.WaitGroup

	mu      sync.Mutex
	closing bool
	last    int64
	waiting map[jsonrpc.ID]chan reply
	gone    []jsonrpc.ID                      // calls that were given up, the last ones
	over    []answer                          // what was answered, the last ones
	served  map[jsonrpc.ID]context.CancelFunc // requests of the target that run
	err     error                             // why the connection ended
}

type reply struct {
	result json.RawMessage
	err    error
}

func newPeer(ctx context.Context, conn mcp.Connection, h Handler, fail func(error) error) *peer {
	p := &peer{conn: conn, handle: h, fail: fail, waiting: map[jsonrpc.ID]chan reply{}, served: map[jsonrpc.ID]context.CancelFunc{}}
	p.ctx, p.cancel = context.WithCancel(ctx)
	p.run(p.read)
	return p
}

// run starts a task, unless the connection has ended: then it is false.
func (p *peer) run(task func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.tasks.Go(task)
	}
	return p.err == nil
}

// close tells the target that its answers are not wanted any more, ends the
// connection, and waits for what runs.
func (p *peer) close() {
	p.mu.Lock()
	for id := range p.waiting {
		p.farewells.Go(func() { p.giveUp(id) })
	}
	p.closing = true
	p.mu.Unlock()
	told := make(chan struct{})
	go func() { p.farewells.Wait(); close(told) }()
	select {
	case <-told:
	case <-time.After(cancelGrace):
	}
	p.end(&Failure{What: "is no longer connected"})
	<-told
	p.tasks.Wait()
}

// end lets every call fail.
func (p *peer) end(err error) {
	p.mu.Lock()
	if p.err != nil {
		p.mu.Unlock()
		return
	}
	p.err = err
	waiting := p.waiting
	p.waiting = nil
	p.mu.Unlock()
	for _, w := range waiting {
		w <- reply{err: err}
	}
	_ = p.conn.Close()
	p.cancel()
}

// read takes in messages until the connection ends.
func (p *peer) read() {
	for {
		message, err := p.conn.Read(p.ctx)
		if err != nil {
			p.end(p.broken(err))
			return
		}
		switch m := message.(type) {
		case *jsonrpc.Response:
			p.deliver(m.ID, reply{m.Result, m.Error})
		case *jsonrpc.Request:
			p.take(m)
		}
	}
}

// broken is what the end of the connection means for the calls that were sent. That
// the session is gone says nothing about them: they may have been served before.
func (p *peer) broken(err error) error {
	err = p.fail(err)
	if f := (*Failure)(nil); errors.As(err, &f) {
		return &Failure{What: f.What}
	}
	return err
}

// take serves a request or notification of the target. Notifications are handled
// in their order, and before the answers that follow them.
func (p *peer) take(m *jsonrpc.Request) {
	switch {
	case m.IsCall():
		ctx, ok := p.admit(m.ID)
		if !ok {
			p.run(func() { p.refuse(m.ID) })
			return
		}
		p.run(func() { p.serve(ctx, m) })
	case m.Method == "notifications/cancelled":
		var params struct {
			RequestID any `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &params) != nil {
			return
		}
		if id, err := jsonrpc.MakeID(params.RequestID); err == nil {
			p.mu.Lock()
			cancel := p.served[id]
			p.mu.Unlock()
			if cancel != nil {
				cancel()
			}
		}
	default:
		p.handle.Notification(p.ctx, m.Method, m.Params)
	}
}

// admit notes a request of the target that is to be served. It is false for the id
// of one that is.
func (p *peer) admit(id jsonrpc.ID) (context.Context, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, open := p.served[id]; open {
		return nil, false
	}
	ctx, cancel := context.WithCancel(p.ctx)
	p.served[id] = cancel
	return ctx, true
}

func (p *peer) serve(ctx context.Context, m *jsonrpc.Request) {
	res := &jsonrpc.Response{ID: m.ID}
	var result any = struct{}{}
	if m.Method != "ping" {
		result, res.Error = p.handle.Request(ctx, m.Method, m.Params)
	}
	if res.Error == nil {
		res.Result, res.Error = json.Marshal(result)
	}
	p.mu.Lock()
	p.served[m.ID]()
	delete(p.served, m.ID)
	p.mu.Unlock()
	_ = p.conn.Write(p.ctx, res)
}

// refuse answers a request with the id of one that is being served: two answers with
// one id could not be told apart (MCP, Requests: an id is not used twice).
func (p *peer) refuse(id jsonrpc.ID) {
	_ = p.conn.Write(p.ctx, &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{
		Code: jsonrpc.CodeInvalidRequest, Message: "a request with this id is being served",
	}})
}

// answer is what is remembered of one, to know it when it is sent again.
type answer struct {
	id  jsonrpc.ID
	sum [sha256.Size]byte // of the answer
}

func answerOf(id jsonrpc.ID, r reply) answer {
	if r.err != nil {
		return answer{id, sha256.Sum256([]byte("error " + r.err.Error()))}
	}
	return answer{id, sha256.Sum256(r.result)}
}

// deliver hands an answer to the call that waits for it. One that nobody waits for is
// late, or sent again, or somebody's answer under a wrong id: then nobody knows whose, and
// whoever waits would do so for ever.
func (p *peer) deliver(id jsonrpc.ID, r reply) {
	a := answerOf(id, r)
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.waiting[id]; w != nil {
		delete(p.waiting, id)
		p.over = remember(p.over, a)
		w <- r
		return
	}
	if slices.Contains(p.gone, id) || slices.Contains(p.over, a) {
		return
	}
	for id, w := range p.waiting {
		p.forget(id)
		w <- reply{err: strayAnswer}
	}
}

// maxGone is how many calls that were given up are remembered, for their late answers,
// and how many answers, for those that are sent again.
const maxGone = 1024

// remember adds to the last ones.
func remember[T any](last []T, one T) []T {
	if last = append(last, one); len(last) > maxGone {
		last = last[1:]
	}
	return last
}

// forget takes a call from those that wait for an answer; its own is late from now on.
// The caller holds p.mu.
func (p *peer) forget(id jsonrpc.ID) {
	delete(p.waiting, id)
	p.gone = remember(p.gone, id)
}

// ended says whether the connection has ended.
func (p *peer) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err != nil
}
