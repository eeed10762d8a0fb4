package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/kandev/assent/pipeline/acp"
)

// pair is a relay whose goroutines may hear both sides: the client has pipes, the agent
// sockets, as in [Run].
type pair struct {
	t                   *testing.T
	relay               *relay
	client, agent       *os.File // what they write to
	stderr              *side
	toClient, toAgent   *bufio.Reader
	clientGone, stopped chan struct{}
}

func newPair(t *testing.T, change ...func(*Options)) *pair {
	p := &pair{t: t, stderr: newSide(), clientGone: make(chan struct{}), stopped: make(chan struct{})}
	clientIn, client, err := os.Pipe()
	require.NoError(t, err)
	toClient, clientOut, err := os.Pipe()
	require.NoError(t, err)
	agentIn, agent := sockets(t)
	toAgent, agentOut := sockets(t)
	p.client, p.agent = client, agent
	p.toClient, p.toAgent = bufio.NewReader(toClient), bufio.NewReader(toAgent)

	o := Options{Client: clientIn, ToClient: clientOut, Stderr: p.stderr, Agent: "claude-acp"}
	o.Pipelines, o.Dialects = hostPipelines(t)
	for _, c := range change {
		c(&o)
	}
	r, err := newRelay(t.Context(), o)
	require.NoError(t, err)
	p.relay = r
	r.agent = newToAgent(agentOut, func(b []byte) int {
		n, err := unix.SendmsgN(int(agentOut.Fd()), b, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		if err != nil {
			return 0
		}
		return n
	})
	lines := acp.NewReader(clientIn, o.MaxLine)
	r.both = newBoth(r, lines, o, agentIn)
	require.NotNil(t, r.both)
	var running sync.WaitGroup
	running.Go(r.agent.serve)
	running.Go(func() { r.fromClient(lines); close(p.clientGone) })
	running.Go(func() { _ = r.fromAgent(context.Background(), r.both.hearing(agentIn)); close(p.stopped) })
	t.Cleanup(func() {
		_, _ = client.Close(), agent.Close()
		_, _ = toClient.Close(), toAgent.Close()
		<-p.stopped
		<-p.clientGone
		r.agent.end()
		running.Wait()
		_, _, _ = clientIn.Close(), clientOut.Close(), agentIn.Close()
		require.NoError(t, r.gate.close())
	})
	return p
}

// sockets are the two ends of a connection that block.
func sockets(t *testing.T) (from, to *os.File) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	return os.NewFile(uintptr(fds[0]), "from"), os.NewFile(uintptr(fds[1]), "to")
}

func (p *pair) write(to *os.File, text string) {
	_, err := io.WriteString(to, text)
	require.NoError(p.t, err)
}

func (p *pair) read(from *bufio.Reader, want string) {
	p.t.Helper()
	got := make([]byte, len(want))
	_, err := io.ReadFull(from, got)
	require.NoError(p.t, err)
	require.Equal(p.t, want, string(got))
}

// lent lets the client be lent: after an answer of it, the agent says nothing.
func (p *pair) lent() {
	p.t.Helper()
	for !p.relay.both.hears() {
		const line = `{"jsonrpc":"2.0","id":"nobody's","result":{}}` + "\n"
		p.write(p.client, line)
		p.read(p.toAgent, line)
		for began := time.Now(); !p.relay.both.hears() && time.Since(began) < 10*time.Millisecond; runtime.Gosched() {
		}
	}
}

// An answer is taken where the agent is heard, and anything else is not: whatever
// comes, and in whatever pieces, it comes through in its order.
func TestBothAreHeard(t *testing.T) {
	p := newPair(t)
	for n := range 50 {
		p.lent()
		offer := offerLine(fmt.Sprint(n), "s", "Bash")
		p.write(p.agent, offer)
		p.read(p.toClient, offer)
		require.True(t, p.relay.both.hears(), "a line to a client that reads gives nothing back")
		answer := selectedLine(fmt.Sprint(n), "once")
		p.write(p.client, answer)
		p.read(p.toAgent, answer)
		require.True(t, p.relay.both.hears(), "an answer gives nothing back")
	}
	prompt := requestLine("7", "session/prompt", `{"sessionId":"s"}`)
	p.lent()
	p.write(p.client, prompt+prompt)
	p.read(p.toAgent, prompt+prompt)
	p.lent()
	for _, piece := range strings.SplitAfter(prompt, `"`) {
		p.write(p.client, piece)
	}
	p.read(p.toAgent, prompt)
	assert.False(t, p.relay.both.hears(), "what comes behind a request is seldom an answer")
}

// A line beyond the cap is told of, wherever it is heard.
func TestALongAnswerIsToldOf(t *testing.T) {
	p := newPair(t, func(o *Options) { o.MaxLine = 1000 })
	p.lent()
	p.write(p.client, `{"jsonrpc":"2.0","id":1,"result":{"x":"`+strings.Repeat("x", 1000)+"\"}}\n{}\n")
	p.read(p.toAgent, "{}\n")
	assert.Contains(t, p.stderr.read(), "longer than 1000 bytes")
}

// A client that does not read keeps nobody from hearing it.
func TestAClientThatDoesNotReadIsHeard(t *testing.T) {
	p := newPair(t)
	p.lent()
	line := `{"jsonrpc":"2.0","method":"_flood","params":"` + strings.Repeat("x", 1000) + "\"}\n"
	const lines = 5000
	var flooding sync.WaitGroup
	flooding.Go(func() {
		for range lines {
			_, _ = io.WriteString(p.agent, line)
		}
	})
	prompt := requestLine("7", "session/prompt", `{"sessionId":"s","x":"`+strings.Repeat("x", 1<<20)+`"}`)
	p.write(p.client, prompt) // more than the pipe holds
	p.read(p.toAgent, prompt)
	for range lines {
		p.read(p.toClient, line)
	}
	flooding.Wait()
}

// An agent that does not read keeps nobody from hearing it, and gets every answer in
// its order when it does.
func TestAnAgentThatDoesNotReadIsHeard(t *testing.T) {
	p := newPair(t)
	p.lent()
	const offers = 3000
	id := func(n int) string { return fmt.Sprintf("%q", fmt.Sprint(n, strings.Repeat("i", 400))) }
	for n := range offers {
		offer := offerLine(id(n), "s", "Bash")
		p.write(p.agent, offer)
		p.read(p.toClient, offer)
	}
	require.True(t, p.relay.both.hears())
	var answering sync.WaitGroup
	answering.Go(func() {
		for n := range offers { // more than all that lies between holds
			_, _ = io.WriteString(p.client, selectedLine(id(n), "once"))
		}
	})
	for p.relay.both.hears() { // the agent has to wait for itself
		runtime.Gosched()
	}
	const line = `{"jsonrpc":"2.0","method":"_hello"}` + "\n"
	for range 100 {
		p.write(p.agent, line)
		p.read(p.toClient, line)
	}
	for n := range offers {
		p.read(p.toAgent, selectedLine(id(n), "once"))
	}
	answering.Wait()
}

// The end of either side is seen wherever it is heard.
func TestTheEndIsHeard(t *testing.T) {
	t.Run("client", func(t *testing.T) {
		p := newPair(t)
		p.lent()
		require.NoError(t, p.client.Close())
		<-p.clientGone
		p.write(p.agent, "{}\n")
		p.read(p.toClient, "{}\n")
	})
	t.Run("agent", func(t *testing.T) {
		p := newPair(t)
		p.lent()
		require.NoError(t, p.agent.Close())
		<-p.stopped
		p.write(p.client, "{}\n")
		p.read(p.toAgent, "{}\n")
		assert.False(t, p.relay.both.hears())
	})
}

// Where something else than pipes leads to the client, it has its goroutine.
func TestNotBoth(t *testing.T) {
	in, out, err := os.Pipe()
	require.NoError(t, err)
	file, err := os.Create(t.TempDir() + "/file")
	require.NoError(t, err)
	agent, other := sockets(t)
	for _, f := range []*os.File{in, out, file, agent, other} {
		t.Cleanup(func() { _ = f.Close() })
	}
	both := newBoth(nil, nil, Options{Client: in, ToClient: out, AgentStderr: file}, agent)
	require.NotNil(t, both)
	assert.Nil(t, newBoth(nil, nil, Options{Client: in, ToClient: out, AgentStderr: out}, agent), "what else is written there cannot be known")
	both.end()
	both.end()
	assert.Nil(t, newBoth(nil, nil, Options{Client: file, ToClient: out}, agent))
	assert.Nil(t, newBoth(nil, nil, Options{Client: in, ToClient: file}, agent))
	assert.Nil(t, newBoth(nil, nil, Options{Client: agent, ToClient: out}, agent))
	assert.Nil(t, newBoth(nil, nil, Options{Client: strings.NewReader(""), ToClient: out}, agent))
	both = nil
	both.lend()
	both.write(1, false)
	both.leave()
	both.come()
	both.end()
}
