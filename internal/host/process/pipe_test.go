package process

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/pipeline/acp"
)

// wired is an instance whose agent is the test: no process, two pipes. It works
// within a bubble of fake time.
type wired struct {
	*stage
	instance *Instance
	out      *io.PipeWriter
	running  sync.WaitGroup

	mu    sync.Mutex
	lines []string                      // what the agent was sent
	reply func(got agentFrame) []string // what it answers at once
}

// wire makes an instance around two pipes.
func (s *stage) wire(t *testing.T) *wired {
	t.Helper()
	i, err := s.manager.newInstance(t.Context(), s.launch)
	require.NoError(t, err)
	require.NoError(t, s.manager.register(i))
	i.agent.Capabilities.Load, i.agent.Capabilities.MCP.HTTP = true, true
	made := 0
	w := &wired{stage: s, instance: i, reply: func(got agentFrame) []string {
		if got.Method != "session/new" {
			return nil
		}
		made++
		return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s%d"}}`, got.ID, made)}
	}}
	read, out := io.Pipe()
	in, written := io.Pipe()
	w.out = out
	w.running.Go(func() { i.conn.read(read) })
	w.running.Go(func() { i.conn.write(written) })
	w.running.Go(func() { w.agent(in) })
	t.Cleanup(func() { w.end(true) })
	return w
}

// agent keeps what it is sent.
func (w *wired) agent(in io.Reader) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSpace(line)
		var got agentFrame
		_ = json.Unmarshal([]byte(line), &got)
		w.mu.Lock()
		w.lines = append(w.lines, line)
		reply := w.reply(got)
		w.mu.Unlock()
		for _, r := range reply {
			_, _ = io.WriteString(w.out, r+"\n")
		}
	}
}

// send is the agent writing lines.
func (w *wired) send(lines ...string) {
	_, _ = io.WriteString(w.out, strings.Join(lines, "\n")+"\n")
}

// end ends the instance as its supervisor does.
func (w *wired) end(stopped bool) {
	i := w.instance
	cause := ErrEnded
	if stopped {
		cause = ErrStopped
	}
	i.end(cause)
	i.wind(stopped)
	_ = w.out.Close()
	if !stopped {
		i.conn.out.drop()
	}
	w.running.Wait()
	i.conn.calls.fail(ended(nil))
	i.manager.forget(i)
	_ = i.abandon()
}

// frames are the answers that the agent got, in order, by the id of its request.
func (w *wired) frames() map[string][]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := map[string][]string{}
	for _, line := range w.lines {
		if strings.Contains(line, `"method":`) {
			continue
		}
		var got struct {
			ID     json.RawMessage
			Result struct {
				Outcome struct{ Outcome, OptionID string }
			}
		}
		if json.Unmarshal([]byte(line), &got) == nil {
			found[string(got.ID)] = append(found[string(got.ID)], strings.TrimSpace(got.Result.Outcome.Outcome+" "+got.Result.Outcome.OptionID))
		}
	}
	return found
}

// plainOffer is the line of an offer of an ordinary tool.
func plainOffer(id, session, call, options string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"session/request_permission","params":{"sessionId":%q,"toolCall":{"toolCallId":%q,"title":"ls","kind":"execute"},"options":%s}}`,
		id, session, call, options)
}

// inBubble runs a test with fake time and an agent on two pipes.
func inBubble(t *testing.T, c pending.Config, f func(t *testing.T, w *wired), change ...func(*Options, *Launch)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(t, newStage(t, "", append(change, func(o *Options, _ *Launch) { o.Store = pending.New(c) })...).wire(t))
	})
}

// attach puts a surface in front of the store.
func (w *wired) attach() { w.store.Attach(pending.Scope{}) }

// open sends an offer that waits, and gives the question.
func (w *wired) open(t *testing.T, id, session, call, options string) asked {
	t.Helper()
	w.send(plainOffer(id, session, call, options))
	synctest.Wait()
	return w.next(t)
}

// decodedOffer is an offer that was read from the agent already.
func decodedOffer(t *testing.T, i *Instance, id, session string) *acp.Offer {
	t.Helper()
	m, err := i.conn.decoder.FromAgent([]byte(plainOffer(id, session, "c", threeOptions)))
	require.NoError(t, err)
	return m.Offer
}
