package demoagent

import (
	"context"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline/acp"
)

// peer is the client at the other end: it sends whole messages and matches
// answers with the requests that they are for.
type peer struct {
	w    *acp.Writer
	fail context.CancelCauseFunc // the output is broken

	mu      sync.Mutex
	next    int
	waiting map[string]chan response // by the exact text of the id
}

func newPeer(w *acp.Writer, fail context.CancelCauseFunc) *peer {
	return &peer{w: w, fail: fail, waiting: map[string]chan response{}}
}

// message is a JSON-RPC message as it is sent.
type message struct {
	JSONRPC string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id,omitzero"`
	Method  string         `json:"method,omitzero"`
	Params  any            `json:"params,omitzero"`
	Result  any            `json:"result,omitzero"`
	Error   *rpcError      `json:"error,omitzero"`
}

// rpcError is the error of a response.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// JSON-RPC error codes; the last two are ACP's.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeUnknownMethod  = -32601
	codeBadParams      = -32602
	codeInternal       = -32603
	codeCancelled      = -32800
	codeNotFound       = -32002
)

// response is what came back for a request. The zero value is an answer that
// allows nothing: a JSON-RPC error, or one that can't be read in just one way.
type response struct{ result jsontext.Value }

func (p *peer) send(m message) {
	m.JSONRPC = "2.0"
	line, err := json.Marshal(m, json.Deterministic(true))
	if err == nil {
		err = p.w.WriteLine(line)
	}
	if err != nil {
		p.fail(err)
	}
}

func (p *peer) notify(method string, params any) { p.send(message{Method: method, Params: params}) }

// respond answers the request with the given id, exactly once.
func (p *peer) respond(id acp.ID, result any, failed *rpcError) {
	m := message{ID: jsontext.Value(id.String()), Error: failed}
	if failed == nil {
		m.Result = result
	}
	p.send(m)
}

// refuse answers a message whose id can't be known.
func (p *peer) refuse(code int, why string) {
	p.respond(acp.NewID("null"), nil, &rpcError{Code: code, Message: why})
}

// request sends a request. Its ids are numbers from 0 on. The channel gets one
// response, or none if the client never answers.
func (p *peer) request(method string, params any) (acp.ID, <-chan response) {
	answer := make(chan response, 1)
	p.mu.Lock()
	id := acp.NewID(strconv.Itoa(p.next))
	p.next++
	p.waiting[id.String()] = answer
	p.mu.Unlock()
	p.send(message{ID: jsontext.Value(id.String()), Method: method, Params: params})
	return id, answer
}

// answered delivers a response. One that nobody waits for is dropped.
func (p *peer) answered(id acp.ID, r response) {
	p.mu.Lock()
	answer := p.waiting[id.String()]
	delete(p.waiting, id.String())
	p.mu.Unlock()
	if answer != nil {
		answer <- r
	}
}
