package upstream

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/kandev/assent/internal/host/child"
)

// graces are how long a program has to end by itself: together less than an
// endpoint waits for its end.
var graces = child.Graces{Close: time.Second, Term: time.Second}

// program is a target that was started: messages are lines on its stdin and
// stdout (MCP, Transports, "stdio").
type program struct {
	child  *child.Child
	lines  *bufio.Reader
	max    int64
	stderr *os.File // its end of the pipe, closed once it has it

	write sync.Mutex
	once  sync.Once
	tasks sync.WaitGroup
}

func startProgram(t Target, o Options) (mcp.Connection, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, &Failure{What: "cannot be started: there is no pipe to be had for its stderr"}
	}
	defer func() { _ = theirs.Close() }()
	started, err := child.Start(child.Command{Path: t.Command[0], Args: t.Command[1:], Dir: t.Dir, Env: t.Env}, child.Options{Stderr: theirs})
	if err != nil {
		_ = ours.Close()
		return nil, err
	}
	p := &program{child: started, lines: bufio.NewReader(started.Stdout), max: o.MaxMessage, stderr: ours}
	out := o.Stderr
	if out == nil {
		out = io.Discard
	}
	p.tasks.Go(func() { copyLines(out, o.Name, ours) })
	return p, nil
}

// Read implements [mcp.Connection]. A line that is no message is noise, as a
// banner or a forgotten print, and passed over, unless it is an answer but for its id:
// that one is an answer without an id.
func (p *program) Read(context.Context) (jsonrpc.Message, error) {
	for {
		line, err := readLine(p.lines, p.max)
		if errors.Is(err, errTooLong) {
			return nil, err
		}
		if err != nil {
			return nil, io.EOF
		}
		if message, err := jsonrpc.DecodeMessage(line); err == nil {
			return message, nil
		}
		if isAnswer(line) {
			return &jsonrpc.Response{}, nil
		}
	}
}

// isAnswer says whether a line is an answer of JSON-RPC, whatever its id.
func isAnswer(line []byte) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(line, &m) == nil && m["jsonrpc"] != nil && m["method"] == nil && (m["result"] != nil || m["error"] != nil)
}

// Write implements [mcp.Connection].
func (p *program) Write(_ context.Context, m jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	p.write.Lock()
	defer p.write.Unlock()
	if _, err := p.child.Stdin.Write(append(line, '\n')); err != nil {
		return io.EOF
	}
	return nil
}

// Close implements [mcp.Connection]: it ends the program with everything that it
// has started.
func (p *program) Close() error {
	p.once.Do(func() {
		_ = p.child.Stdin.Close()
		p.child.Stop(context.Background(), graces)
		_ = p.child.Stdout.Close()
		_ = p.stderr.SetReadDeadline(time.Now().Add(graces.Term)) // somebody that left the group may hold it open
		p.tasks.Wait()
		_ = p.stderr.Close()
	})
	return nil
}

// SessionID implements [mcp.Connection]: there is none.
func (p *program) SessionID() string { return "" }
