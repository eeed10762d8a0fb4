package proxy

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/record"
	"github.com/kandev/assent/internal/replay"
	"github.com/kandev/assent/stages"
)

// Two injected servers have ports and secrets of their own, and each call is decided
// by what belongs to its own server.
func TestTwoInjectedServers(t *testing.T) {
	first, second := serveTarget(t, "run", "only_first"), serveTarget(t, "run")
	w := newWire(t, injectingTarget("one", first), injectingTarget("two", second), explaining)
	list := w.open("s")
	require.Len(t, list, 2)
	one, two := list[0], list[1]
	assert.Equal(t, []string{"one", "two"}, []string{one.Name, two.Name})
	assert.NotEqual(t, one.URL, two.URL)
	assert.NotEqual(t, one.secret(), two.secret())
	assert.Equal(t, 401, statusOf(t, one.URL, two.secret()), "a secret is good for its own server alone")
	assert.Equal(t, 401, statusOf(t, two.URL, one.secret()))

	assert.Equal(t, []string{"only_first", "run"}, listTools(t, one))
	w.answers(offerLine("1", "s", "mcp__one__run"), selectedLine("1", "once"))
	w.asks(offerLine("2", "s", "mcp__two__run")) // nobody has listed its tools
	assert.Contains(t, w.stderr.read(), "tool run of two, stage pending, reason injected_server_not_contacted")
	assert.Equal(t, []string{"run"}, listTools(t, two))
	w.answers(offerLine("3", "s", "mcp__two__run"), selectedLine("3", "once"))
	w.asks(offerLine("4", "s", "mcp__two__only_first"))
	assert.Contains(t, w.stderr.read(), "tool only_first of two, stage pending, reason tool_not_offered")
	w.asks(offerLine("5", "s", "mcp__three__run"))

	// An approved call that ends without having arrived ends all automatic approval
	// of the agent; a call at the wrong server does not count.
	w.answers(offerLine("9", "s", "mcp__one__run"), selectedLine("9", "once"))
	_, err := connect(t, one).CallTool(t.Context(), callOf("run", "call-3"))
	require.NoError(t, err)
	w.agentSays(endOf("s", "call-3"))
	assert.Contains(t, w.stderr.read(), "never arrived at the injected server")
	w.asks(offerLine("6", "s", "mcp__two__run"))
	w.asks(offerLine("7", "s", "mcp__one__run"))
	assert.Equal(t, 2, strings.Count(w.stderr.read(), "stage manager, reason tripwire_fired"))
}

// The recording of a run replays to the same decisions, and holds no secret; nor does
// anything that we print or log.
func TestARecordingReplaysToTheSameDecisions(t *testing.T) {
	file := &closable{}
	tg := serveTarget(t, "run")
	w := newWire(t, injectingTarget("tasks", tg), injectingTarget("notes", serveTarget(t, "run")), func(o *Options, _ *wire) {
		o.Recorder = func(l []record.Server) (Recorder, error) {
			return record.New(file, record.Header{Name: l[0].Name, Port: l[0].Port, Others: l[1:]})
		}
	}, explaining)
	secrets := []string{}
	for _, session := range []string{"s", "t"} {
		for _, e := range w.open(session) {
			listTools(t, e)
			secrets = append(secrets, strings.TrimPrefix(e.secret(), "Bearer "))
		}
	}
	require.Len(t, secrets, 4)
	w.answers(offerLine("1", "s", "mcp__tasks__run"), selectedLine("1", "once"))
	w.asks(offerLine(`"2"`, "t", "Bash"))
	assert.Equal(t, selectedLine(`"2"`, "no"), w.clientSays(selectedLine(`"2"`, "no")))
	w.answers(offerLine("3", "t", "mcp__tasks__run"), selectedLine("3", "once"))
	w.asks(offerLine("4", "t", "mcp__docs__run"))
	w.clientSays(cancelOf("t"))
	w.answers(strings.Replace(offerLine("5", "s", "Bash"), threeOptions, "[]", 1), cancelledLine("5"))
	w.answers(offerLine("6", "s", "mcp__notes__run"), selectedLine("6", "once"))
	w.asks(offerLine("7", "s", "mcp__notes__a__b"))
	w.agentSays("noise\n")

	said := w.stderr.read()
	for _, secret := range secrets {
		require.NotEmpty(t, secret)
		assert.NotContains(t, file.String(), secret)
		assert.NotContains(t, said, secret)
	}
	assert.Equal(t, len(secrets), strings.Count(file.String(), record.RedactedAuthorization))

	_, set := hostPipelines(t)
	factory, err := stages.NewPipelineFactory(stages.DefaultOrder(), stages.Builtin(set))
	require.NoError(t, err)
	got := map[string]string{}
	err = replay.Runner{Pipelines: factory, Dialects: set}.Recording(t.Context(), "recording", strings.NewReader(file.String()), replay.Instance{}, func(d replay.Decision) error {
		got[string(d.ID)] = d.Verdict + " " + d.Reason
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{
		"1": "select injected_mcp", `"2"`: "pend needs_person", "3": "select injected_mcp", "4": "pend needs_person", "5": "cancel no_options",
		"6": "select injected_mcp", "7": "pend needs_person",
	}, reasonsOf(got, said))

	// What was answered for the client is in it as well: the agent got it.
	for _, answer := range []string{selectedLine("1", "once"), cancelledLine("4"), cancelledLine("5"), selectedLine(`"2"`, "no")} {
		assert.Contains(t, file.String(), `{"dir":"client->agent","frame":`+strings.TrimSpace(answer)+"}")
	}
}

// reasonsOf checks that the live run said the same, and gives the decisions with one
// word for what is a person's.
func reasonsOf(got map[string]string, said string) map[string]string {
	out := map[string]string{}
	for id, decision := range got {
		verdict, reason, _ := strings.Cut(decision, " ")
		if verdict == "pend" && strings.Contains(said, "reason "+reason) {
			decision = "pend needs_person"
		}
		out[id] = decision
	}
	return out
}

// A recording that fails stops nothing; the failure is logged once.
func TestARecordingThatFails(t *testing.T) {
	w := newWire(t, func(o *Options, _ *wire) {
		o.Recorder = func([]record.Server) (Recorder, error) { return failing{}, nil }
	})
	w.asks(offerLine("1", "s", "Bash"))
	assert.Equal(t, selectedLine("1", "once"), w.clientSays(selectedLine("1", "once")))
	w.answers(strings.Replace(offerLine("2", "s", "Bash"), threeOptions, "[]", 1), cancelledLine("2"))
}

type failing struct{}

func (failing) Agent([]byte) error  { return assert.AnError }
func (failing) Client([]byte) error { return assert.AnError }
func (failing) Hide(string)         {}

// closable is a file in memory.
type closable struct{ bytes.Buffer }

func (*closable) Close() error { return nil }
