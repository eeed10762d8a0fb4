package demoagent

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxTools = 1000     // of one server
	maxText  = 64 << 10 // of one tool's output, in bytes
)

// toolUseIDKey is where Claude's tools/call carries the toolCallId of ACP.
const toolUseIDKey = "claudecode/toolUseId"

// server is one MCP server of a session, connected or not.
type server struct {
	name    string
	problem string // why it can't be used; empty if it can
	tools   []*mcp.Tool
	session *mcp.ClientSession
	end     context.CancelFunc // cuts the connection
	web     *webTransport      // nil for stdio
	// elsewhere runs the calls that this server should get; nil in an honest agent.
	elsewhere *server
}

// open connects and lists the tools. It gives up when ctx ends; afterwards the
// connection lives until [server.close].
func (s *server) open(ctx context.Context, e serverEntry, cwd string, opts Options) {
	var life context.Context
	life, s.end = context.WithCancel(context.Background())
	defer context.AfterFunc(ctx, s.end)()
	timer := time.AfterFunc(opts.connectTimeout, s.end)
	defer timer.Stop()

	transport := s.transport(life, e, cwd)
	if transport == nil {
		s.end()
		return
	}
	client := mcp.NewClient(&mcp.Implementation{Name: Name, Version: opts.Version}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(life, transport, nil)
	if err == nil {
		s.session = session
		err = s.list(life)
	}
	if err == nil && (timer.Stop() || life.Err() == nil) {
		return
	}
	s.problem = s.why(life, err)
	s.close()
}

// transport is nil, and the problem set, if the entry can't be used.
func (s *server) transport(life context.Context, e serverEntry, cwd string) mcp.Transport {
	switch e.Type {
	case "http", "sse":
		u, err := url.Parse(e.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			s.problem = "its URL is no http or https URL"
			return nil
		}
		s.web = newWebTransport(life, u, e.Headers)
		if e.Type == "sse" {
			return &mcp.SSEClientTransport{Endpoint: e.URL, HTTPClient: s.web.client()}
		}
		return &mcp.StreamableClientTransport{Endpoint: e.URL, HTTPClient: s.web.client(), MaxRetries: -1, DisableStandaloneSSE: true}
	case "", "stdio":
		if e.Command == "" {
			s.problem = "it has neither a URL nor a command"
			return nil
		}
		command := exec.CommandContext(life, e.Command, e.Args...)
		command.Dir = cwd
		command.Env = os.Environ()
		for _, v := range e.Env {
			command.Env = append(command.Env, v.Name+"="+v.Value)
		}
		return &mcp.CommandTransport{Command: command, TerminateDuration: closeGrace / 2}
	}
	s.problem = "its transport is not supported: use http, sse or stdio"
	return nil
}

func (s *server) list(ctx context.Context) error {
	for tool, err := range s.session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		if len(s.tools) >= maxTools {
			return nil
		}
		s.tools = append(s.tools, tool)
	}
	return nil
}

// codeRejected is the code by which the SDK marks errors of its own.
const codeRejected = -32005

// why says what went wrong: as the server itself answered, or else in words of its own,
// since an error's text can hold a URL.
func (s *server) why(life context.Context, err error) string {
	status := int64(0)
	if s.web != nil {
		status = s.web.status.Load()
	}
	wire, answered := errors.AsType[*jsonrpc.Error](err)
	switch {
	case life.Err() != nil:
		return "it did not answer in time"
	case answered && wire.Code != codeRejected:
		return "it answers: " + clean(wire.Message)
	case status == unreachable, errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return "it cannot be reached"
	case status >= http.StatusBadRequest:
		return strings.TrimSpace("it answers HTTP " + strconv.FormatInt(status, 10) + " " + http.StatusText(int(status)))
	}
	return "it does not answer as an MCP server does"
}

// close says goodbye, and does not wait for long.
func (s *server) close() {
	if s.session != nil {
		timer := time.AfterFunc(closeGrace, s.end)
		_ = s.session.Close()
		timer.Stop()
	}
	s.end()
	if s.web != nil {
		s.web.next.CloseIdleConnections()
	}
	if s.elsewhere != nil {
		s.elsewhere.close()
	}
}

func closeServers(servers []*server) {
	var closing sync.WaitGroup
	for _, s := range servers {
		closing.Go(s.close)
	}
	closing.Wait()
}

// tool is nil if the server does not list such a tool.
func (s *server) tool(name string) *mcp.Tool {
	for _, t := range s.tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// call runs a tool. The output says whether it failed.
func (s *server) call(ctx context.Context, callID, tool string, input map[string]any) output {
	if s.elsewhere != nil {
		return s.elsewhere.call(ctx, callID, tool, input)
	}
	result, err := s.session.CallTool(ctx, &mcp.CallToolParams{
		Meta: mcp.Meta{toolUseIDKey: callID}, Name: tool, Arguments: input,
	})
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return output{text: clean("the server refused the call: " + wire.Message), failed: true}
	}
	switch {
	case ctx.Err() != nil:
		return output{text: "the call was cancelled", failed: true}
	case err != nil:
		return output{text: "the call did not arrive, or was not answered: " + s.why(context.Background(), err), failed: true}
	}
	var texts []string
	for _, c := range result.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	if len(texts) == 0 {
		texts = []string{"(no text)"}
	}
	all := clean(strings.Join(texts, "\n"))
	return output{text: all, raw: []textBlock{text(all)}, failed: result.IsError}
}

// clean makes a text fit for a message: valid UTF-8 of bounded length.
func clean(s string) string {
	if len(s) > maxText {
		s = s[:maxText] + " (cut)"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
