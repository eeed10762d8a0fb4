// Package agentstream is how the MCP server of an agent instance reaches the
// dispatcher. A stream speaks for one instance: who that is was bound when the stream
// was made, by the component that started the instance, and nothing that goes over
// the stream can say otherwise.
//
// An instance on this machine has a [Local] stream. A runner on another machine
// implements [Stream] over the network: it proves once, when it connects, for which
// instance it speaks, and the receiving end makes a [Local] stream of that identity.
// Actions and payloads travel as they are; identity never travels with them.
package agentstream

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/internal/host/dispatch"
)

// Stream carries the actions of one instance to the dispatcher.
//
// The payload is one JSON object, or empty for none. The result is JSON. An error
// is a [*dispatch.Error], [ErrClosed] when the instance is over, or says that the
// stream is not connected. Implementations are safe for concurrent use, and hand
// the end of ctx on to the handler.
type Stream interface {
	Dispatch(ctx context.Context, action string, payload jsontext.Value) (jsontext.Value, error)
}

// ErrClosed says that the stream has ended with its instance.
var ErrClosed = errors.New("agentstream: the instance is over")

// Local is the stream of an instance in the same process as the dispatcher.
type Local struct {
	dispatcher *dispatch.Dispatcher
	origin     dispatch.Origin
	ctx        context.Context // ends with the stream
	cancel     context.CancelFunc
}

var _ Stream = (*Local)(nil)

// NewLocal makes the stream of an instance, which has a task. It ends by
// [Local.Close] alone.
func NewLocal(d *dispatch.Dispatcher, i dispatch.Identity) (*Local, error) {
	switch {
	case d == nil:
		return nil, errors.New("agentstream: there is no dispatcher")
	case i.Instance == "" || i.Task == "":
		return nil, errors.New("agentstream: a stream needs the instance and the task that it speaks for")
	}
	l := &Local{dispatcher: d, origin: dispatch.FromAgentStream(i)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l, nil
}

// Dispatch hands an action to the dispatcher. A handler that still runs when the
// stream is closed is told so by its context, and its result is not handed out.
func (l *Local) Dispatch(ctx context.Context, action string, payload jsontext.Value) (jsontext.Value, error) {
	if l.ctx.Err() != nil {
		return nil, ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	result, err := l.dispatcher.Dispatch(ctx, l.origin, action, payload)
	if l.ctx.Err() != nil {
		return nil, ErrClosed
	}
	if err != nil {
		return nil, err
	}
	encoded, err := dispatch.Encode(result)
	if err != nil {
		return nil, &dispatch.Error{Code: dispatch.CodeInternal, Message: "the result cannot be written as JSON"}
	}
	return encoded, nil
}

// Close ends the stream. It does not wait for handlers, so that a handler may close
// the stream that called it.
func (l *Local) Close() { l.cancel() }
