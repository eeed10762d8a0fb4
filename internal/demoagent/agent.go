package demoagent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline/acp"
)

const (
	methodInitialize = "initialize"
	methodPrompt     = "session/prompt"
)

// agent is one connection with a client.
type agent struct {
	ctx      context.Context // ends with the connection
	opts     Options
	peer     *peer
	sessions sessions
	calls    atomic.Uint64  // numbers tool calls and messages
	loan     loan           // for [Borrows]
	work     sync.WaitGroup // whatever has to end before Run does

	logMu  sync.Mutex
	stderr io.Writer

	mu      sync.Mutex
	running map[string]func() // how to withdraw a client's request, by its id
}

func newAgent(ctx context.Context, fail context.CancelCauseFunc, out, stderr io.Writer, opts Options) *agent {
	if stderr == nil {
		stderr = io.Discard
	}
	return &agent{
		ctx: ctx, opts: opts, stderr: stderr,
		peer:    newPeer(acp.NewWriter(out), fail),
		running: map[string]func(){},
	}
}

// log tells a person something. What came from outside is quoted by the caller.
func (a *agent) log(format string, args ...any) {
	a.logMu.Lock()
	defer a.logMu.Unlock()
	_, _ = fmt.Fprintf(a.stderr, "demoagent: "+format+"\n", args...)
}

// number makes an id that no other tool call or message has.
func (a *agent) number(prefix string) string {
	return prefix + strconv.FormatUint(a.calls.Add(1), 10)
}

// read hands on lines until the input ends.
func (a *agent) read(in io.Reader, lines chan<- []byte, ended chan<- error) {
	defer close(lines)
	r := acp.NewReader(in, maxLine)
	for {
		line, err := r.ReadLine()
		_, tooLong := errors.AsType[*acp.LineTooLongError](err)
		switch {
		case err == nil:
		case tooLong:
			a.log("%v", err)
			continue
		case errors.Is(err, io.EOF):
			ended <- nil
			return
		default:
			ended <- err
			return
		}
		select {
		case lines <- append([]byte(nil), line...):
		case <-a.ctx.Done():
			return
		}
	}
}

// dispatch handles lines in order. Nothing in it waits for the client.
func (a *agent) dispatch(lines <-chan []byte) {
	for {
		select {
		case line, more := <-lines:
			if !more {
				return
			}
			a.handle(line)
		case <-a.ctx.Done():
			return
		}
	}
}

// incoming is a message as it is read: exact keys, none of them twice.
type incoming struct {
	JSONRPC string         `json:"jsonrpc"`
	Params  jsontext.Value `json:"params"`
	Result  jsontext.Value `json:"result"`
	Error   jsontext.Value `json:"error"`
}

func (a *agent) handle(line []byte) {
	f, err := acp.Peek(line)
	switch {
	case errors.Is(err, acp.ErrBlank):
		return
	case errors.Is(err, acp.ErrBatch):
		a.peer.refuse(codeInvalidRequest, "batches are not supported: send one message per line")
		return
	case err != nil:
		a.peer.refuse(codeParse, "this line is no JSON object")
		return
	}
	var m incoming
	ambiguous := json.Unmarshal(line, &m) != nil || m.JSONRPC != "2.0"
	switch {
	case f.Kind == acp.KindResponse:
		r := response{}
		if !ambiguous && m.Error == nil {
			r.result = m.Result
		}
		a.peer.answered(f.ID, r)
	case f.Kind == acp.KindNotification && ambiguous:
		a.log("a notification was dropped: it is no JSON-RPC 2.0 message that can be read in just one way")
	case f.Kind == acp.KindNotification:
		a.notified(f.Method, m.Params)
	case f.Kind != acp.KindRequest:
		a.peer.refuse(codeInvalidRequest, "this is no JSON-RPC 2.0 message: it needs a method, and an id that is a string or a number")
	case ambiguous:
		a.peer.respond(f.ID, nil, &rpcError{codeInvalidRequest, "this is no JSON-RPC 2.0 message that can be read in just one way"})
	default:
		a.requested(f.ID, f.Method, m.Params)
	}
}

// requested starts a request of the client.
func (a *agent) requested(id acp.ID, method string, params jsontext.Value) {
	switch method {
	case methodInitialize:
		result, failed := a.initialize(params)
		a.peer.respond(id, result, failed)
	case acp.MethodNew:
		a.serve(id, func(ctx context.Context) (any, *rpcError) { return a.newSession(ctx, params) })
	case acp.MethodLoad:
		a.serve(id, func(ctx context.Context) (any, *rpcError) { return a.loadSession(ctx, params) })
	case methodPrompt:
		a.prompt(id, params)
	default:
		a.peer.respond(id, nil, &rpcError{codeUnknownMethod, "this agent has no such method"})
	}
}

// notified takes a notification of the client. An unknown one means nothing.
func (a *agent) notified(method string, params jsontext.Value) {
	switch method {
	case acp.MethodCancel:
		var p struct {
			SessionID string `json:"sessionId"`
		}
		if decode(params, &p) {
			a.sessions.cancelTurn(p.SessionID)
		}
	case acp.MethodCancelRequest:
		var p struct {
			RequestID jsontext.Value `json:"requestId"`
		}
		if decode(params, &p) {
			a.withdraw(string(p.RequestID))
		}
	}
}

// serve works on a request beside the others.
func (a *agent) serve(id acp.ID, work func(context.Context) (any, *rpcError)) {
	ctx, cancel := context.WithCancel(a.ctx)
	if !a.begin(id, cancel) {
		cancel()
		return
	}
	a.work.Go(func() {
		defer cancel()
		result, failed := work(ctx)
		a.finish(id, result, failed)
	})
}

// begin notes how to withdraw a request. An id that is in use is refused.
func (a *agent) begin(id acp.ID, withdraw func()) bool {
	a.mu.Lock()
	_, used := a.running[id.String()]
	if !used {
		a.running[id.String()] = withdraw
	}
	a.mu.Unlock()
	if used {
		a.peer.respond(id, nil, &rpcError{codeInvalidRequest, "a request with this id is still being worked on"})
	}
	return !used
}

func (a *agent) finish(id acp.ID, result any, failed *rpcError) {
	a.mu.Lock()
	delete(a.running, id.String())
	a.mu.Unlock()
	a.peer.respond(id, result, failed)
}

// withdraw ends a request that its sender no longer wants.
func (a *agent) withdraw(id string) {
	a.mu.Lock()
	withdraw := a.running[id]
	a.mu.Unlock()
	if withdraw != nil {
		withdraw()
	}
}

// decode reads params strictly.
func decode(params jsontext.Value, into any) bool {
	return len(params) > 0 && json.Unmarshal(params, into) == nil
}

func badParams(why string) *rpcError { return &rpcError{codeBadParams, "invalid params: " + why} }

// initialize answers with version 1, whichever version the client asks for: it
// is the only one that this agent speaks.
func (a *agent) initialize(params jsontext.Value) (any, *rpcError) {
	var p struct {
		ProtocolVersion *uint16 `json:"protocolVersion"`
	}
	if !decode(params, &p) || p.ProtocolVersion == nil {
		return nil, badParams("protocolVersion must be a number")
	}
	return initializeResult{
		ProtocolVersion: 1,
		Capabilities:    capabilities{LoadSession: true, MCP: mcpCapabilities{HTTP: true, SSE: true}},
		Info:            agentInfo{Name: Name, Title: "Demo agent", Version: a.opts.Version},
		AuthMethods:     []string{},
	}, nil
}
