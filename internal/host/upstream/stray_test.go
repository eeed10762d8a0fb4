package upstream

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asProgram makes the test binary a target on stdin and stdout.
const asProgram = "ASSENT_TEST_PROGRAM"

// asked is a request as it came to a target by hand.
type asked struct {
	ID     json.RawMessage
	Method string
	Params struct{ Name string }
}

// oddAnswers are what the target sends, by the tool that is called. "fine" gets its
// answer, "late" none.
var oddAnswers = map[string]string{
	"another id":              `{"jsonrpc":"2.0","id":77,"result":{}}`,
	"an id that is no number": `{"jsonrpc":"2.0","id":"2","result":{}}`,
	"an id that is over":      `{"jsonrpc":"2.0","id":1,"result":{}}`,
	"another id, error":       `{"jsonrpc":"2.0","id":77,"error":{"code":-32000,"message":"5ecret"}}`,
	"no id":                   `{"jsonrpc":"2.0","result":{}}`,
	"no id, error":            `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"5ecret"}}`,
}

// answerTo is what the target sends for a request; empty for nothing.
func answerTo(r asked) string {
	switch {
	case r.Method == "initialize":
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`, r.ID)
	case r.Method != "tools/call" || r.Params.Name == "late":
		return ""
	case oddAnswers[r.Params.Name] != "":
		return oddAnswers[r.Params.Name]
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, r.ID)
}

// serveLines is the target as a program. A call of "fine" is answered after what
// answers each call of "late" that was given up, what answers each of "twice" once more,
// and after noise.
func serveLines() {
	var late []json.RawMessage
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var r asked
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			return
		}
		switch r.Params.Name {
		case "late", "twice":
			late = append(late, r.ID)
		case "fine":
			fmt.Println(`{"level":"error","error":"a line of a log","id":7}`)
			for _, id := range late {
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", id)
			}
		}
		if answer := answerTo(r); answer != "" {
			fmt.Println(answer)
		}
	}
}

// strayTargets are the ways to the target: JSON, a stream for each call that stays
// open after a wrong answer, HTTP with SSE, a program.
func strayTargets(t *testing.T) map[string]Target {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return map[string]Target{
		"program": {Command: []string{self}, Env: append(os.Environ(), asProgram+"=1")},
		"json":    byHand(t, "application/json", "%s"),
		"stream":  byHand(t, eventStream, "data: %s\n\n"),
		"sse":     bySSE(t),
	}
}

func served(t *testing.T, h http.HandlerFunc) Target {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return Target{URL: s.URL}
}

func read(r *http.Request) (m asked) {
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &m)
	return m
}

func byHand(t *testing.T, kind, format string) Target {
	return served(t, func(w http.ResponseWriter, r *http.Request) {
		m := read(r)
		answer := answerTo(m)
		switch {
		case answer != "":
			w.Header().Set("Content-Type", kind)
			_, _ = fmt.Fprintf(w, format, answer)
			w.(http.Flusher).Flush()
			if kind == eventStream {
				<-r.Context().Done()
			}
		case m.Params.Name == "late":
			<-r.Context().Done()
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
}

func bySSE(t *testing.T) Target {
	var sessions sync.Map // their answers, by the address of their messages
	var last atomic.Int64
	return served(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", eventStream)
			path, answers := fmt.Sprintf("/messages/%d", last.Add(1)), make(chan string, 10)
			sessions.Store(path, answers)
			_, _ = fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", path)
			for {
				w.(http.Flusher).Flush()
				select {
				case answer := <-answers:
					_, _ = fmt.Fprintf(w, "event: message\ndata: %s\n\n", answer)
				case <-r.Context().Done():
					return
				}
			}
		default:
			answers, ok := sessions.Load(r.URL.Path)
			if !ok {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			w.WriteHeader(http.StatusAccepted)
			if answer := answerTo(read(r)); answer != "" {
				answers.(chan string) <- answer
			}
		}
	})
}

func callOf(ctx context.Context, c *Client, tool string) error {
	_, err := c.Call(ctx, "tools/call", &mcp.CallToolParams{Name: tool})
	return err
}

// A call whose answer has another id, or none, ends with an error that says so, and the
// next one is served.
func TestAnswersUnderAWrongID(t *testing.T) {
	for kind, at := range strayTargets(t) {
		for odd := range oddAnswers {
			t.Run(kind+", "+odd, func(t *testing.T) {
				c, err := Open(t.Context(), at, Options{Handler: heard{}})
				require.NoError(t, err)
				defer c.Close()
				err = callOf(t.Context(), c, odd)
				var failed *Failure
				require.ErrorAs(t, err, &failed)
				assert.NotContains(t, err.Error(), "5ecret")
				if kind != "program" && strings.HasPrefix(odd, "no id") { // the SDK ends the connection
					assert.Contains(t, failed.What, "cannot be understood")
					assert.True(t, c.Ended())
					return
				}
				assert.Equal(t, "answered with an id that is not the request's", failed.What)
				require.NoError(t, callOf(t.Context(), c, "fine"))
			})
		}
	}
}

// The late answer to a call that was given up, and noise, disturb nobody.
func TestALateAnswerIsNobodys(t *testing.T) {
	for kind, at := range strayTargets(t) {
		t.Run(kind, func(t *testing.T) {
			c, err := Open(t.Context(), at, Options{Handler: heard{}})
			require.NoError(t, err)
			defer c.Close()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.ErrorIs(t, callOf(ctx, c, "late"), context.Canceled)
			require.NoError(t, callOf(t.Context(), c, "fine"))
			require.NoError(t, callOf(t.Context(), c, "fine"), "and once more")
		})
	}
}

// An answer that is sent again disturbs nobody, also while others wait; a different one
// under the same id is somebody's.
func TestAnAnswerThatIsSentAgainIsNobodys(t *testing.T) {
	t.Run("program", func(t *testing.T) {
		c, err := Open(t.Context(), strayTargets(t)["program"], Options{Handler: heard{}})
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, callOf(t.Context(), c, "twice"))
		require.NoError(t, callOf(t.Context(), c, "fine"))
		require.NoError(t, callOf(t.Context(), c, "fine"), "and once more")
	})
	wire := func(text string) error { return &jsonrpc.Error{Code: -32000, Message: text} }
	for name, test := range map[string]struct {
		first, second reply
		stray         bool
	}{
		"the same result":         {reply{result: json.RawMessage(`{"a":1}`)}, reply{result: json.RawMessage(`{"a":1}`)}, false},
		"another result":          {reply{result: json.RawMessage(`{"a":1}`)}, reply{result: json.RawMessage(`{"a":2}`)}, true},
		"the same error":          {reply{err: wire("no")}, reply{err: wire("no")}, false},
		"another error":           {reply{err: wire("no")}, reply{err: wire("never")}, true},
		"an error after a result": {reply{result: json.RawMessage(`"no"`)}, reply{err: wire("no")}, true},
		"a result after an error": {reply{err: wire("no")}, reply{result: json.RawMessage(`"no"`)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := &peer{waiting: map[jsonrpc.ID]chan reply{}}
			first, w, err := p.register()
			require.NoError(t, err)
			p.deliver(first, test.first)
			assert.Equal(t, test.first, <-w)
			second, w, err := p.register()
			require.NoError(t, err)
			p.deliver(first, test.second)
			p.deliver(second, test.first)
			r := <-w
			if test.stray {
				assert.Equal(t, reply{err: strayAnswer}, r)
				return
			}
			assert.Equal(t, test.first, r)
		})
	}
}

// What is remembered of answers is bounded.
func TestAnswersAreForgottenInTheEnd(t *testing.T) {
	p := &peer{waiting: map[jsonrpc.ID]chan reply{}}
	for range 3 * maxGone {
		id, w, err := p.register()
		require.NoError(t, err)
		p.deliver(id, reply{})
		<-w
	}
	assert.Len(t, p.over, maxGone)
	assert.Less(t, cap(p.over), 3*maxGone)
}

// What is remembered of calls that were given up is bounded.
func TestCallsThatWereGivenUpAreForgottenInTheEnd(t *testing.T) {
	p := &peer{waiting: map[jsonrpc.ID]chan reply{}}
	for range 3 * maxGone {
		id, _, err := p.register()
		require.NoError(t, err)
		p.forget(id)
	}
	assert.Len(t, p.gone, maxGone)
	assert.Less(t, cap(p.gone), 3*maxGone)
	assert.Empty(t, p.waiting)
}
