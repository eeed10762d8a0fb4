package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/host/upstream"
	"github.com/kandev/assent/pipeline/acp"
	"github.com/kandev/assent/stages"
)

func TestMain(m *testing.M) {
	if runRole() {
		return
	}
	goleak.VerifyTestMain(m)
}

// side is what one of the two sides of a relay gets, and how it is spoken to.
type side struct {
	in   *io.PipeWriter
	mu   sync.Mutex
	got  bytes.Buffer
	more *sync.Cond
}

func newSide() *side {
	s := &side{}
	s.more = sync.NewCond(&s.mu)
	return s
}

// Write takes what the relay writes.
func (s *side) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.more.Broadcast()
	return s.got.Write(p)
}

// Close is the end of it.
func (s *side) Close() error { return nil }

// wire is a relay whose client and agent are the test.
type wire struct {
	t             *testing.T
	relay         *relay
	client, agent *side
	stderr        *side
	syncs         int
	reader        func(io.Reader) io.Reader
	// What is under way: reading the agent, reading the client.
	agentGone, clientGone sync.WaitGroup
}

// hostOrder are the pipelines of a host with a witness.
func hostPipelines(t testing.TB) (stages.PipelineFactory, dialects.Set) {
	set, err := dialects.Index(dialects.All())
	require.NoError(t, err)
	factory, err := stages.NewPipelineFactory(stages.HostOrder(), append(stages.Builtin(set), stages.WitnessFactory()))
	require.NoError(t, err)
	return factory, set
}

// nowhere is a target that nobody asks.
var nowhere = upstream.Target{URL: "http://127.0.0.1:9/mcp"}

func newWire(t *testing.T, change ...func(*Options, *wire)) *wire {
	w := &wire{t: t, client: newSide(), agent: newSide(), stderr: newSide(), reader: func(r io.Reader) io.Reader { return r }}
	var o Options
	o.Pipelines, o.Dialects = hostPipelines(t)
	o.ToClient, o.Stderr, o.Version = w.client, w.stderr, "test"
	for _, c := range change {
		c(&o, w)
	}
	var err error
	w.relay, err = newRelay(t.Context(), o)
	require.NoError(t, err)
	w.relay.agent = newToAgent(w.agent, nil)
	fromClient, clientIn := io.Pipe()
	fromAgent, agentIn := io.Pipe()
	w.client.in, w.agent.in = clientIn, agentIn
	var running sync.WaitGroup
	running.Go(w.relay.agent.serve)
	w.clientGone.Go(func() { w.relay.fromClient(acp.NewReader(w.reader(fromClient), w.relay.maxLine)); w.relay.agent.end() })
	w.agentGone.Go(func() { _ = w.relay.fromAgent(context.Background(), w.reader(fromAgent)) })
	t.Cleanup(func() {
		_, _ = clientIn.Close(), agentIn.Close()
		w.agentGone.Wait()
		w.clientGone.Wait()
		running.Wait()
		require.NoError(t, w.relay.gate.close())
	})
	return w
}

// says writes raw text as one side and gives what the other one has got when the
// relay is through with it.
func (w *wire) clientSays(raw string) (toAgent string) { return w.says(w.client, w.agent, raw) }
func (w *wire) agentSays(raw string) (toClient string) { return w.says(w.agent, w.client, raw) }

func (w *wire) says(from, to *side, raw string) string {
	w.syncs++
	mark := fmt.Sprintf(`{"jsonrpc":"2.0","method":"_test/sync","params":%d}`+"\n", w.syncs)
	_, err := io.WriteString(from.in, raw+mark)
	require.NoError(w.t, err)
	return strings.TrimSuffix(to.until(mark), mark)
}

// until waits for a text and takes everything up to its end.
func (s *side) until(mark string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if at := strings.Index(s.got.String(), mark); at >= 0 {
			return string(s.got.Next(at + len(mark)))
		}
		s.more.Wait()
	}
}

// read takes what is there.
func (s *side) read() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.got.Next(s.got.Len()))
}

func injecting(names ...string) func(*Options, *wire) {
	return func(o *Options, _ *wire) {
		for _, name := range names {
			o.Inject = append(o.Inject, Injection{Name: name, Target: nowhere})
		}
	}
}

func agentID(id string) func(*Options, *wire) { return func(o *Options, _ *wire) { o.Agent = id } }

func approving(o *Options, _ *wire) { o.AutoApprove = true }
