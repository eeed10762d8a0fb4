package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// callKey is for the id of the call that a request of the transport carries.
type callKey struct{}

// register makes an id and a place for its answer.
func (p *peer) register() (jsonrpc.ID, chan reply, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return jsonrpc.ID{}, nil, p.err
	}
	p.last++
	id, err := jsonrpc.MakeID(float64(p.last))
	if err != nil {
		return jsonrpc.ID{}, nil, err
	}
	w := make(chan reply, 1) // one answer, taken or not
	p.waiting[id] = w
	return id, w, nil
}

// call sends a request and waits for its answer. When ctx ends the target is told.
func (p *peer) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, errors.New("upstream: the parameters cannot be written as JSON")
	}
	id, answer, err := p.register()
	if err != nil {
		return nil, err
	}
	// The request ends with the connection, and a while after the call: some
	// transports read the answer for as long as the request's context lives.
	sending, stop := context.WithCancel(context.WithValue(p.ctx, callKey{}, id))
	defer func() { time.AfterFunc(cancelGrace, stop) }()
	sent := make(chan error, 1)
	begun := p.run(func() {
		err := p.conn.Write(sending, &jsonrpc.Request{ID: id, Method: method, Params: raw})
		sent <- err
		if err != nil {
			p.notSent(id, err)
		}
	})
	if !begun {
		sent <- nil
	}
	select {
	case r := <-answer:
		if r.err == nil {
			return r.result, nil
		}
		r.err = p.cause(id, r.err, sent)
		if wire := answered(r.err); wire != nil {
			return nil, wire
		}
		return nil, p.fail(r.err)
	case <-ctx.Done():
		p.abandon(id)
		return nil, ctx.Err()
	}
}

// cause is why a call failed. When the connection ended because of this very call,
// sending it knows better. Where the connection goes on, the call may still run: the
// target is told that nobody waits for it.
func (p *peer) cause(id jsonrpc.ID, err error, sent <-chan error) error {
	if answered(err) != nil {
		return err
	}
	if !p.ended() {
		p.farewell(id)
		return err
	}
	select {
	case e := <-sent:
		if errors.Is(e, mcp.ErrSessionMissing) {
			return e
		}
	case <-time.After(cancelGrace):
	}
	return err
}

// notSent lets a call fail.
func (p *peer) notSent(id jsonrpc.ID, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.waiting[id]; w != nil {
		p.forget(id)
		w <- reply{err: err}
	}
}

// abandon forgets a call that nobody waits for, and tells the target.
func (p *peer) abandon(id jsonrpc.ID) {
	p.mu.Lock()
	_, open := p.waiting[id]
	if open {
		p.forget(id)
	}
	p.mu.Unlock()
	if open {
		p.farewell(id)
	}
}

// farewell tells the target that a call is given up, unless the connection is about
// to end: then it was told.
func (p *peer) farewell(id jsonrpc.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closing && p.err == nil {
		p.farewells.Go(func() { p.giveUp(id) })
	}
}

func (p *peer) giveUp(id jsonrpc.ID) {
	ctx, stop := context.WithTimeout(p.ctx, cancelGrace)
	defer stop()
	_ = p.notify(ctx, "notifications/cancelled", map[string]any{"requestId": id.Raw(), "reason": "no longer wanted"})
}

// notify sends a notification.
func (p *peer) notify(ctx context.Context, method string, params any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return errors.New("upstream: the parameters cannot be written as JSON")
	}
	if err := p.conn.Write(ctx, &jsonrpc.Request{Method: method, Params: raw}); err != nil {
		return p.fail(err)
	}
	return nil
}
