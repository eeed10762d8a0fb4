package process

import (
	"context"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/frame"
	"github.com/kandev/assent/pipeline/acp"
)

// message is a JSON-RPC request or notification of ours.
type message struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id,omitzero"`
	Method  string         `json:"method"`
	Params  any            `json:"params"`
}

// newMessage makes the line of a request, or of a notification without an id.
func newMessage(id, method string, params any) ([]byte, error) {
	m := message{Version: "2.0", Method: method, Params: params}
	if id != "" {
		m.ID = jsontext.Value(id)
	}
	line, err := json.Marshal(m)
	if err != nil { // its text could quote what is sent
		return nil, ErrNoText
	}
	return line, nil
}

// methodNotFound is the answer to a request of the agent that we offer nothing for.
func methodNotFound(id acp.ID) []byte {
	return []byte(`{"jsonrpc":"2.0","id":` + id.String() + `,"error":{"code":-32601,"message":"this client has no such method"}}`)
}

// response is what the agent answers a request of ours with.
type response struct {
	Result jsontext.Value `json:"result"`
	Error  *struct {
		Code    int64          `json:"code"`
		Message string         `json:"message"`
		Data    jsontext.Value `json:"data"`
	} `json:"error"`
}

// maxDetail bounds what is shown of an agent's error, in bytes.
const maxDetail = 2000

// readResponse takes the result out of a response. The result is a copy; redact
// takes known secrets out of what the agent says about an error.
func readResponse(method string, line []byte, redact func(string) string) (jsontext.Value, error) {
	var r response
	if err := json.Unmarshal(line, &r, frame.Lenient); err != nil {
		return nil, &RPCError{Method: method, Code: malformedAnswer, Detail: "the answer is malformed"}
	}
	if r.Error == nil {
		return r.Result, nil
	}
	text := r.Error.Message
	if len(r.Error.Data) > 0 && r.Error.Data.Kind() != 'n' {
		text += " " + string(r.Error.Data)
	}
	return nil, &RPCError{Method: method, Code: int(r.Error.Code), Detail: display.Line(redact(text), maxDetail)}
}

// malformedAnswer is the code of an answer that is none (JSON-RPC: parse error).
const malformedAnswer = -32700

// calls are the requests of ours that wait for an answer.
type calls struct {
	mu   sync.Mutex
	last uint64
	open map[string]*pendingCall
	err  error // why there will be no more answers
}

// pendingCall waits for the answer to one request.
type pendingCall struct {
	id, method string
	// then sees the answer on the goroutine that reads, before the agent's next
	// line is looked at; nil for nothing to do.
	then   then
	answer chan outcome
}

// then sees the answer to a request, and may refuse it with an error.
type then func(jsontext.Value, error) error

type outcome struct {
	result jsontext.Value
	err    error
}

func (c *calls) begin(method string, then then) (*pendingCall, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	if c.open == nil {
		c.open = map[string]*pendingCall{}
	}
	c.last++
	p := &pendingCall{id: strconv.FormatUint(c.last, 10), method: method, then: then, answer: make(chan outcome, 1)}
	c.open[p.id] = p
	return p, nil
}

// take gives the call with the given id, once; nil when there is none.
func (c *calls) take(id string) *pendingCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.open[id]
	delete(c.open, id)
	return p
}

// fail ends every open call, and every later one.
func (c *calls) fail(err error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = err
	}
	open := c.open
	c.open = nil
	c.mu.Unlock()
	for _, p := range open {
		p.settle(nil, err)
	}
}

// settle gives the call its answer. It is for who took the call.
func (p *pendingCall) settle(result jsontext.Value, err error) {
	if p.then != nil {
		err = p.then(result, err)
	}
	p.answer <- outcome{result, err}
}

// wait waits for the answer, or for the end of ctx.
func (c *calls) wait(ctx context.Context, p *pendingCall) (jsontext.Value, error) {
	select {
	case o := <-p.answer:
		return o.result, o.err
	case <-ctx.Done():
		if c.take(p.id) == nil { // it is being answered
			o := <-p.answer
			return o.result, o.err
		}
		return nil, context.Cause(ctx)
	}
}
