package proxy

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/upstream"
	"github.com/kandev/assent/internal/record"
	"github.com/kandev/assent/pipeline"
)

// What cannot be opened is an error, and what was opened before is closed: goleak
// would find the endpoints.
func TestWhatCannotBeOpened(t *testing.T) {
	inTheWay := newWire(t, injecting("kandev"))
	own := upstream.Target{URL: pipeline.MCPURL(inTheWay.relay.gate.injections[0].config.Port)}
	good := Injection{"kandev", nowhere}
	for name, c := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"no pipelines":             {func(o *Options) { o.Pipelines = nil }, "a factory of pipelines"},
		"a bad name":               {func(o *Options) { o.Inject = []Injection{good, {"a__b", nowhere}} }, "a__b"},
		"pipelines that fail":      {func(o *Options) { o.Pipelines = failingPipelines }, assert.AnError.Error()},
		"a recording that fails":   {func(o *Options) { o.Recorder = failingRecorder }, assert.AnError.Error()},
		"an endpoint as target":    {func(o *Options) { o.Inject = []Injection{good, {"other", own}} }, `injecting "other": `},
		"pipelines, nothing to do": {func(o *Options) { o.Inject = nil; o.Pipelines = failingPipelines }, assert.AnError.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{ToClient: newSide(), Stderr: newSide(), Inject: []Injection{good}}
			o.Pipelines, o.Dialects = hostPipelines(t)
			r, err := newRelay(t.Context(), o)
			require.NoError(t, err)
			require.NoError(t, r.gate.close())
			c.change(&o)
			_, err = newRelay(t.Context(), o)
			require.ErrorContains(t, err, c.want)
			_, err = Run(context.Background(), o)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func failingPipelines(pipeline.Instance) (*pipeline.Pipeline, error) { return nil, assert.AnError }

func failingRecorder([]record.Server) (Recorder, error) { return nil, assert.AnError }

// Once the endpoint is closed a session request goes to the agent as it is.
func TestASessionWithoutAnEndpoint(t *testing.T) {
	w := newWire(t, injecting("kandev", "other"))
	require.Len(t, w.open("s"), 2)
	require.NoError(t, w.relay.gate.injections[1].endpoint.Close())
	line := requestLine("7", "session/new", `{"mcpServers":[]}`)
	assert.Equal(t, line, w.clientSays(line))
	assert.Contains(t, w.stderr.read(), "gets no injected server")
}

// The agent's environment has the mark, and what makes this agent ask; what the user
// has set stays.
func TestTheAgentsEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		agent  string
		inject []string
		env    []string
		want   []string
	}{
		"an agent that needs nothing": {agent: "gemini-acp", env: []string{"A=1"}, want: []string{"A=1"}},
		"codex, nothing injected":     {agent: "codex-acp", env: []string{"A=1"}, want: []string{"A=1", "INITIAL_AGENT_MODE=workspace-write"}},
		"codex": {agent: "codex-acp", inject: []string{"kandev"}, env: []string{"A=1"},
			want: []string{"A=1", "INITIAL_AGENT_MODE=workspace-write", "DISABLE_MCP_CONFIG_FILTERING=true"}},
		"what the user has set": {agent: "codex-acp", inject: []string{"kandev"}, env: []string{"INITIAL_AGENT_MODE=agent"},
			want: []string{"INITIAL_AGENT_MODE=agent", "DISABLE_MCP_CONFIG_FILTERING=true"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, agentID(c.agent), injecting(c.inject...))
			o := Options{Agent: c.agent, mark: (&watcher{value: "m"}).mark()}
			o.Command.Env = slices.Clip(c.env)
			got := w.relay.command(o).Env
			assert.Equal(t, append(c.want, "ASSENT_INSTANCE=m"), got)
		})
	}
	w := newWire(t)
	got := w.relay.command(Options{mark: (&watcher{value: "m"}).mark()}).Env
	assert.Equal(t, append(os.Environ(), "ASSENT_INSTANCE=m"), got, "the caller's own without another one")
}

// Signals that end a process are told from those that do not.
func TestSignalsThatEnd(t *testing.T) {
	ending := 0
	for _, s := range Signals() {
		if ends(s) {
			ending++
		}
	}
	assert.NotZero(t, ending)
	assert.True(t, ends(os.Interrupt))
	assert.Contains(t, Signals(), os.Interrupt)
}

// The words of an error about a session say what was not done and why.
func TestWhyASessionHasNoServer(t *testing.T) {
	w := newWire(t, injecting("kandev"))
	w.clientSays(requestLine("1", "session/new", `{"mcpServers":5}`))
	said := w.stderr.read()
	assert.True(t, strings.HasPrefix(said, "assent: proxy: warning: a session/new of the client gets no injected server: its mcpServers is no list"), said)
}
