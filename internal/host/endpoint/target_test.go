package endpoint

//lint:file-ignore SA1019 agents and servers go on using what MCP 2026-07-28 deprecates

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/upstream"
)

// asTarget makes the test binary a target on stdin and stdout.
const asTarget = "ASSENT_TEST_TARGET"

// dieOn names the tool at which that target ends.
const dieOn = "ASSENT_TEST_DIE_ON"

// canaryHeader is what the target wants to be sent, and nobody else may see.
const canaryHeader = "c4nary-5ecret"

// target is an MCP server of a user, made with the SDK.
type target struct {
	*mcp.Server
	started chan string // tools that wait
	ended   chan string // tools that were told to end
	stopped chan bool   // closed when no tool shall wait any more
}

func newTarget() *target {
	tg := &target{started: make(chan string, 100), ended: make(chan string, 100), stopped: make(chan bool)}
	tg.Server = mcp.NewServer(&mcp.Implementation{Name: "users-own", Version: "7"}, &mcp.ServerOptions{
		Instructions: "be nice", PageSize: 3,
		CompletionHandler: func(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{r.Params.Argument.Value + "!"}}}, nil
		},
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	for name, h := range map[string]mcp.ToolHandler{
		"echo": tg.echo, "kinds": kinds, "fails": fails, "refuses": refuses, "big": big,
		"progress": progress, "wait": tg.wait, "asks": asks, "remembers": tg.remembers(),
	} {
		tg.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, h)
	}
	tg.AddResource(&mcp.Resource{Name: "r", URI: "test:r"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "content"}}}, nil
	})
	tg.AddResourceTemplate(&mcp.ResourceTemplate{Name: "t", URITemplate: "test:{x}"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "made"}}}, nil
	})
	tg.AddPrompt(&mcp.Prompt{Name: "p", Arguments: []*mcp.PromptArgument{{Name: "who"}}}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "hello " + r.Params.Arguments["who"]}}}}, nil
	})
	return tg
}

var toolsOfTarget = []string{"asks", "big", "echo", "fails", "kinds", "progress", "refuses", "remembers", "wait"}

func (tg *target) echo(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	meta, err := json.Marshal(r.Params.Meta)
	return &mcp.CallToolResult{
		Meta:              mcp.Meta{"from": "target"},
		Content:           []mcp.Content{&mcp.TextContent{Text: string(meta)}},
		StructuredContent: r.Params.Arguments,
	}, err
}

func kinds(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{
		&mcp.TextContent{Text: "<t>"}, &mcp.ImageContent{Data: []byte("i"), MIMEType: "image/png"}, &mcp.AudioContent{Data: []byte("a"), MIMEType: "audio/wav"},
		&mcp.ResourceLink{URI: "test:r", Name: "r"}, &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "test:e", Text: "e"}},
	}}, nil
}

func fails(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "did not work"}}}, nil
}

func refuses(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, &jsonrpc.Error{Code: -32050, Message: "own 5ecret words", Data: json.RawMessage(`{"why":1}`)}
}

func big(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("x", 5<<20)}}}, nil
}

func progress(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for i := range 3 {
		if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3}); err != nil {
			return nil, err
		}
		if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "error", Data: fmt.Sprint("step ", i+1)}); err != nil {
			return nil, err
		}
	}
	return &mcp.CallToolResult{Content: []mcp.Content{}}, nil
}

func (tg *target) wait(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	tg.started <- "wait"
	select {
	case <-ctx.Done():
		tg.ended <- "wait"
	case <-tg.stopped:
	}
	return nil, errors.New("ended")
}

func asks(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	sampled, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 1, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "?"}}}})
	if err != nil {
		return nil, err
	}
	elicited, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)})
	if err != nil {
		return nil, err
	}
	roots, err := r.Session.ListRoots(ctx, nil)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(sampled.Model, " ", elicited.Content["name"], " ", roots.Roots[0].URI)}}}, nil
}

// remembers counts the calls of each MCP session of the target.
func (tg *target) remembers() mcp.ToolHandler {
	counts := make(chan map[*mcp.ServerSession]int, 1)
	counts <- map[*mcp.ServerSession]int{}
	return func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		all := <-counts
		all[r.Session]++
		n := all[r.Session]
		counts <- all
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(n)}}}, nil
	}
}

// runAsTarget serves stdin and stdout until they end.
func runAsTarget() {
	fmt.Println("a banner that is no message")
	_, _ = fmt.Fprintln(os.Stderr, "started \x1b[31mred")
	tg := newTarget()
	tg.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if p, ok := r.GetParams().(*mcp.CallToolParamsRaw); ok && p.Name == os.Getenv(dieOn) {
				os.Exit(3)
			}
			return next(ctx, method, r)
		}
	})
	_ = tg.Run(context.Background(), &mcp.StdioTransport{})
}

// served is a target that is reached by one transport.
type served struct {
	*target // nil when it runs in another process
	at      upstream.Target
	server  *httptest.Server
	hits    atomic.Int64
	foreign atomic.Int64 // requests without the header
	streams atomic.Int64 // that were opened for changes
}

// targetKinds are the ways to serve a target.
var targetKinds = []string{"stateful", "stateless", "json", "sse", "stdio", "modern"}

func serveTarget(t *testing.T, kind string) *served {
	t.Helper()
	if kind == "stdio" {
		self, err := os.Executable()
		require.NoError(t, err)
		return &served{at: upstream.Target{Command: []string{self}, Env: append(os.Environ(), asTarget+"=1")}}
	}
	s := &served{target: newTarget()}
	get := func(*http.Request) *mcp.Server { return s.Server }
	var h http.Handler
	switch kind {
	case "sse":
		h = mcp.NewSSEHandler(get, nil)
	case "modern":
		h = modernOnly(mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}))
	default:
		h = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: kind == "stateless", JSONResponse: kind == "json"})
	}
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.hits.Add(1)
		if r.Header.Get("X-Key") != canaryHeader {
			s.foreign.Add(1)
		}
		if r.Method == http.MethodGet || r.Header.Get("Mcp-Method") == "subscriptions/listen" {
			w = &flushing{ResponseWriter: w, flushed: func() { s.streams.Add(1) }}
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		close(s.stopped)
		for ss := range s.Sessions() {
			_ = ss.Close()
		}
		s.server.CloseClientConnections()
		s.server.Close()
	})
	s.at = upstream.Target{URL: s.server.URL + "/mcp", Headers: http.Header{"X-Key": {canaryHeader}}}
	return s
}

// modernOnly refuses the handshake, as a server of the newest version alone may.
func modernOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") < newest {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"x"}}}`))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// front opens an endpoint before a target.
func front(t *testing.T, at upstream.Target) bench {
	t.Helper()
	return open(t, Options{Upstream: &Upstream{Target: at, Name: "mine"}, Version: "1"})
}

// flushing notes when a stream is open.
type flushing struct {
	http.ResponseWriter
	flushed func()
}

func (f *flushing) Flush() {
	f.ResponseWriter.(http.Flusher).Flush()
	f.flushed()
}

const (
	streamWait = 5 * time.Second
	streamTick = 5 * time.Millisecond
)
