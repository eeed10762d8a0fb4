package demoagent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/testlog"
	"github.com/kandev/assent/pipeline/acp"
)

// patience is how long a test waits for something that has to come.
const patience = 20 * time.Second

// client is a scripted ACP client at the other end of two real pipes.
type client struct {
	t       *testing.T
	in      *os.File // the agent's input
	lines   chan string
	done    chan error // what Run returned
	decoder *acp.Decoder
	stderr  *testlog.Buffer
	nextID  int
	session string
	offers  []*acp.Offer // all that were ever asked
}

// start runs an agent; it is ended with the test.
func start(t *testing.T, opts Options) *client {
	t.Helper()
	agentIn, in, err := os.Pipe()
	require.NoError(t, err)
	out, agentOut, err := os.Pipe()
	require.NoError(t, err)
	c := &client{
		t: t, in: in, lines: make(chan string, 1000), done: make(chan error, 1),
		decoder: acp.NewDecoder(acp.Options{}), stderr: &testlog.Buffer{}, nextID: 100,
	}
	var running sync.WaitGroup
	running.Go(func() {
		c.done <- Run(context.Background(), agentIn, agentOut, c.stderr, opts)
		_ = agentOut.Close()
	})
	running.Go(func() {
		defer close(c.lines)
		r := acp.NewReader(out, 0)
		for {
			line, err := r.ReadLine()
			if err != nil {
				return
			}
			c.lines <- string(line)
		}
	})
	t.Cleanup(func() {
		_ = in.Close()
		running.Wait()
		_, _ = agentIn.Close(), out.Close()
	})
	return c
}

// send writes a line.
func (c *client) send(line string) {
	c.t.Helper()
	_, _ = c.decoder.FromClient([]byte(line), "")
	_, err := c.in.WriteString(line + "\n")
	require.NoError(c.t, err)
}

func (c *client) sendf(format string, args ...any) {
	c.t.Helper()
	c.send(fmt.Sprintf(format, args...))
}

// request sends a request and gives its id.
func (c *client) request(method string, params any) string {
	c.t.Helper()
	c.nextID++
	id := fmt.Sprint(c.nextID)
	c.sendf(`{"jsonrpc":"2.0","id":%s,"method":%s,"params":%s}`, id, toJSON(method), toJSON(params))
	return id
}

func toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

type object = map[string]any

// incomingFrame is a line of the agent, checked by the decoder that hosts use.
type incomingFrame struct {
	acp.Message
	line   string
	object object
}

// next is the next line of the agent.
func (c *client) next() incomingFrame {
	c.t.Helper()
	select {
	case line, more := <-c.lines:
		require.True(c.t, more, "the agent closed its output")
		m, err := c.decoder.FromAgent([]byte(line))
		require.NoError(c.t, err, line)
		f := incomingFrame{Message: m, line: line}
		require.NoError(c.t, json.Unmarshal([]byte(line), &f.object))
		if m.Offer != nil {
			if m.Offer.Reason != acp.ReasonNoOptions {
				require.Empty(c.t, m.Offer.Reason, line)
			}
			c.offers = append(c.offers, m.Offer)
		}
		return f
	case <-time.After(patience):
		require.FailNow(c.t, "the agent says nothing")
		panic("unreachable")
	}
}

// response waits for the answer of a request that nothing else comes before.
func (c *client) response(id string) object {
	c.t.Helper()
	f := c.next()
	require.Equal(c.t, acp.KindResponse, f.Kind, f.line)
	require.Equal(c.t, id, f.ID.String(), f.line)
	return f.object
}

// errorCode is the code of an error response.
func errorCode(t *testing.T, response object) int {
	t.Helper()
	failed, ok := response["error"].(object)
	require.True(t, ok, response)
	require.NotContains(t, response, "result")
	return int(failed["code"].(float64))
}

// entry is an mcpServers entry.
func entry(kind, name, url string, headers ...nameValue) object {
	if headers == nil {
		headers = []nameValue{}
	}
	return object{"type": kind, "name": name, "url": url, "headers": headers}
}

// open makes a session in a directory of its own, which it returns.
func (c *client) open(servers ...object) string {
	c.t.Helper()
	if servers == nil {
		servers = []object{}
	}
	dir := c.t.TempDir()
	response := c.response(c.request("session/new", object{"cwd": dir, "mcpServers": servers}))
	result, ok := response["result"].(object)
	require.True(c.t, ok, response)
	c.session = result["sessionId"].(string)
	require.NotEmpty(c.t, c.session)
	return dir
}

func promptParams(session, said string) object {
	return object{"sessionId": session, "prompt": []object{{"type": "text", "text": said}}}
}

// played is what came of a prompt.
type played struct {
	stop   string
	asked  []string // programmatic names, in order
	ends   []string // the last status of each call, in order
	said   string   // all messages
	frames []incomingFrame
}

// prompt plays a turn; answer gives the rest of the response to each request.
func (c *client) prompt(said string, answer func(*acp.Offer) string) played {
	c.t.Helper()
	return c.play(c.request("session/prompt", promptParams(c.session, said)), answer)
}

func (c *client) play(id string, answer func(*acp.Offer) string) played {
	c.t.Helper()
	var p played
	last, order := map[string]string{}, []string{}
	for {
		f := c.next()
		p.frames = append(p.frames, f)
		switch {
		case f.Kind == acp.KindResponse:
			require.Equal(c.t, id, f.ID.String(), f.line)
			result, ok := f.object["result"].(object)
			require.True(c.t, ok, f.line)
			p.stop = result["stopReason"].(string)
			for _, call := range order {
				p.ends = append(p.ends, last[call])
			}
			return p
		case f.Offer != nil:
			name, _ := f.Offer.Request.Call.Name.Value()
			p.asked = append(p.asked, name)
			if a := answer(f.Offer); a != "" {
				c.sendf(`{"jsonrpc":"2.0","id":%s,%s}`, f.Offer.ID, a)
			}
		case f.Method == acp.MethodUpdate:
			update := f.object["params"].(object)["update"].(object)
			p.said += messageText(update)
			call, _ := update["toolCallId"].(string)
			if _, known := last[call]; call != "" && !known {
				order = append(order, call)
			}
			if status, ok := update["status"].(string); ok {
				last[call] = status
			}
		}
	}
}

func messageText(update object) string {
	if update["sessionUpdate"] != "agent_message_chunk" {
		return ""
	}
	return update["content"].(object)["text"].(string)
}

// always gives every request the same answer.
func always(answer string) func(*acp.Offer) string {
	return func(*acp.Offer) string { return answer }
}

func selects(option string) string {
	return `"result":{"outcome":{"outcome":"selected","optionId":` + toJSON(option) + `}}`
}

const (
	answerCancelled = `"result":{"outcome":{"outcome":"cancelled"}}`
	answerError     = `"error":{"code":-32603,"message":"no"}`
)

// end closes the agent's input and gives what Run returned.
func (c *client) end() error {
	c.t.Helper()
	require.NoError(c.t, c.in.Close())
	select {
	case err := <-c.done:
		return err
	case <-time.After(patience):
		require.FailNow(c.t, "the agent did not end")
		return nil
	}
}

func count(s []string, word string) (n int) {
	for _, each := range s {
		n += strings.Count(each, word)
	}
	return n
}
