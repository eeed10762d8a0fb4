package stages_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/pipelinetest"
	"github.com/kandev/assent/stages"
)

// fresh is everything that a host without fx hands in.
func fresh(t testing.TB) (pipeline.Order, []stages.Factory) {
	t.Helper()
	set, err := dialects.Index(dialects.All())
	require.NoError(t, err)
	return stages.DefaultOrder(), stages.Builtin(set)
}

// nilled is a stage that a nil pointer cannot be: its Name reads a field.
type nilled struct{ name pipeline.Name }

func (n *nilled) Name() pipeline.Name { return n.name }

func (*nilled) Evaluate(context.Context, pipeline.Evaluation) (pipeline.Decision, error) {
	return pipeline.Decision{}, nil
}

// forgotten is what a host changed, and the error; empty: none.
type forgotten struct {
	name  string
	lines lines
	want  string
}

type lines func(pipeline.Order, []stages.Factory) (pipeline.Order, []stages.Factory)

func extra() stages.Factory { return stages.Shared("extra", &nilled{"extra"}) }

// add places a stage last and registers it.
func add(f stages.Factory) lines {
	return func(o pipeline.Order, list []stages.Factory) (pipeline.Order, []stages.Factory) {
		return append(o, "extra"), append(list, f)
	}
}

// Forgetting any one line fails when the host starts, with the name of the stage.
func TestForgottenLines(t *testing.T) {
	runForgotten(t, []forgotten{
		{"nothing forgotten", add(extra()), ""},
		{"no line in the order", func(o pipeline.Order, list []stages.Factory) (pipeline.Order, []stages.Factory) {
			return o, append(list, extra())
		}, `pipeline: stage "extra" is registered but has no place in the order`},
		{"no factory", func(o pipeline.Order, list []stages.Factory) (pipeline.Order, []stages.Factory) {
			return append(o, "extra"), list
		}, `pipeline: stage "extra" has a place in the order but is not registered`},
		{"a builtin factory left out", func(o pipeline.Order, list []stages.Factory) (pipeline.Order, []stages.Factory) {
			return o, list[1:]
		}, `pipeline: stage "blanket" has a place in the order but is not registered`},
		{"two factories", func(o pipeline.Order, list []stages.Factory) (pipeline.Order, []stages.Factory) {
			return append(o, "extra"), append(list, extra(), extra())
		}, `pipeline: stage "extra" is registered twice`},
		{"two places", func(o pipeline.Order, list []stages.Factory) (pipeline.Order, []stages.Factory) {
			return append(o, "extra", "extra"), append(list, extra())
		}, `pipeline: stage "extra" has two places in the order`},
		{"no order", func(_ pipeline.Order, list []stages.Factory) (pipeline.Order, []stages.Factory) {
			return nil, list
		}, "pipeline: the order is empty"},
	})
}

func TestBrokenFactories(t *testing.T) {
	runForgotten(t, []forgotten{
		{"a zero factory", add(stages.Factory{}), "stages: the factory number 7 has no name"},
		{"a factory without New", add(stages.Factory{Name: "extra"}), `stages: the factory of stage "extra" has no New function`},
		{"a factory that fails", add(stages.Factory{Name: "extra", New: func(pipeline.Instance) (pipeline.Stage, error) {
			return nil, errors.New("broken")
		}}), `stages: stage "extra": broken`},
		{"a factory of nil", add(stages.Shared("extra", nil)), `stages: the factory of stage "extra" made nil`},
		{"a factory of a nil pointer", add(stages.Shared("extra", (*nilled)(nil))), `stages: stage "extra" panicked while it was made: is it nil?`},
		{"a stage of another name", add(stages.Shared("extra", &nilled{"other"})), `stages: the factory of stage "extra" made a stage named "other"`},
	})
}

func runForgotten(t *testing.T, cases []forgotten) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			factory, err := stages.NewPipelineFactory(c.lines(fresh(t)))
			if c.want == "" {
				require.NoError(t, err)
				assert.NotNil(t, factory)
				return
			}
			assert.ErrorContains(t, err, c.want)
			assert.Nil(t, factory)
		})
	}
}

func TestPipelineFactoryChecksInstances(t *testing.T) {
	factory, err := stages.NewDefaultFactory()
	require.NoError(t, err)
	for _, instance := range []pipeline.Instance{{Port: -1}, {Port: 65536}, {Reserved: "a__b"}, {Reserved: "a_"}} {
		p, err := factory(instance)
		assert.Error(t, err)
		assert.Nil(t, p)
	}
}

// The factory keeps copies: a host's lists are its own.
func TestPipelineFactoryKeepsItsLists(t *testing.T) {
	order, list := fresh(t)
	factory, err := stages.NewPipelineFactory(order, list)
	require.NoError(t, err)
	order[0], list[0] = "changed", stages.Factory{}
	p, err := factory(pipelinetest.Instance())
	require.NoError(t, err)
	assert.Equal(t, stages.DefaultOrder(), p.Order())
}

// Each instance has stages of its own: what one may do says nothing of another.
func TestPipelineFactoryKeepsInstancesApart(t *testing.T) {
	factory, err := stages.NewDefaultFactory()
	require.NoError(t, err)
	blanket, err := factory(pipeline.Instance{AutoApprove: true})
	require.NoError(t, err)
	plain, err := factory(pipeline.Instance{})
	require.NoError(t, err)
	assert.Equal(t, pipeline.Select, blanket.Decide(context.Background(), pipelinetest.Request()).Decision.Verdict)
	assert.Equal(t, pipeline.Pend, plain.Decide(context.Background(), pipelinetest.Request()).Decision.Verdict)
}

func TestDefaultPipelineEndToEnd(t *testing.T) {
	instance := pipelinetest.Instance()
	instance.Agent = "claude-acp"
	blanket := instance
	blanket.AutoApprove = true
	own := pipelinetest.Name("mcp__kandev__list_tasks")
	tool := func(server string) pipeline.Identity { return pipelinetest.Tool(server, "list_tasks") }
	cases := []struct {
		name     string
		instance pipeline.Instance
		request  *pipeline.Request
		want     pipeline.Result // without its trace
	}{
		{"the host's own tool", instance, pipelinetest.Request(own), pipeline.Result{
			Stage: stages.OptionName, Decision: selects(0, stages.ReasonInjectedMCP), Facts: pipeline.Facts{Identity: tool("kandev"), Injected: true}}},
		{"another server's", instance, pipelinetest.Request(pipelinetest.Name("mcp__docs__list_tasks")), pipeline.Result{
			Stage: stages.PendingName, Decision: pipeline.Decision{Reason: stages.ReasonOtherServer},
			Facts: pipeline.Facts{Identity: tool("docs"), Kept: stages.ReasonOtherServer}}},
		{"a shell command", instance, pipelinetest.Request(pipelinetest.Name("Bash"), pipelinetest.Title("mcp__kandev__list_tasks", "other")), pipeline.Result{
			Stage: stages.PendingName, Decision: pipeline.Decision{Reason: pipeline.ReasonNoPrefix},
			Facts: pipeline.Facts{Identity: pipeline.OtherIdentity(), Kept: pipeline.ReasonNoPrefix}}},
		{"named by the dialect", instance, pipelinetest.Request(pipelinetest.CallMeta(`{"claudeCode":{"toolName":"mcp__kandev__list_tasks"}}`)), pipeline.Result{
			Stage: stages.OptionName, Decision: selects(0, stages.ReasonInjectedMCP), Facts: pipeline.Facts{Identity: tool("kandev"), Injected: true}}},
		{"contradicted by the dialect", instance, pipelinetest.Request(own, pipelinetest.CallMeta(`{"claudeCode":{"toolName":"Bash"}}`)), pipeline.Result{
			Stage: stages.PendingName, Decision: pipeline.Decision{Reason: dialects.ReasonClaudeNamesDiffer},
			Facts: pipeline.Facts{Identity: pipeline.RefusedIdentity(), Kept: dialects.ReasonClaudeNamesDiffer}}},
		{"blanket approval", blanket, pipelinetest.Request(pipelinetest.Name("Bash")), pipeline.Result{
			Stage: stages.BlanketName, Decision: selects(0, stages.ReasonBlanketApproval)}},
		{"blanket approval of nothing", blanket, pipelinetest.Request(own, pipelinetest.Options()), pipeline.Result{
			Stage: stages.PendingName, Decision: pipeline.Decision{Reason: pipeline.ReasonNoAllowOffered},
			Facts: pipeline.Facts{Identity: tool("kandev"), Kept: pipeline.ReasonNoAllowOffered, Injected: true}}},
	}
	factory, err := stages.NewDefaultFactory()
	require.NoError(t, err)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, err := factory(c.instance)
			require.NoError(t, err)
			assert.Equal(t, c.want, p.DecideUntraced(context.Background(), c.request))
		})
	}
}

func TestDefaultPipelineAllocations(t *testing.T) {
	factory, err := stages.NewDefaultFactory()
	require.NoError(t, err)
	ctx := context.Background()
	codex := func(r *pipeline.Request) {
		r.Meta = pipelinetest.Meta(`{"is_mcp_tool_approval":true}`)
		r.Call.Facts = pipeline.DialectFacts{Marked: true, Server: "kandev", Tool: "list_tasks"}
	}
	cases := []struct {
		name  string
		agent pipeline.Agent
		edit  pipelinetest.Edit
		want  pipeline.Verdict
		more  float64 // server and tool given apart are put together once
	}{
		{"by its name", "claude-acp", pipelinetest.Name("mcp__kandev__list_tasks"), pipeline.Select, 0},
		{"by metadata", "claude-acp", pipelinetest.CallMeta(`{"claudeCode":{"toolName":"mcp__kandev__list_tasks"}}`), pipeline.Select, 0},
		{"by server and tool apart", "codex-acp", codex, pipeline.Select, 1},
		{"by the request's own metadata", "qwen-acp", pipelinetest.CallMeta(`{"toolName":"mcp__kandev__list_tasks"}`), pipeline.Select, 0},
		{"another server", "claude-acp", pipelinetest.Name("mcp__docs__list_tasks"), pipeline.Pend, 0},
		{"an agent without dialect", "other-acp", func(*pipeline.Request) {}, pipeline.Pend, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			instance := pipelinetest.Instance()
			instance.Agent = c.agent
			p, err := factory(instance)
			require.NoError(t, err)
			request := pipelinetest.Request(c.edit)
			assert.Equal(t, c.want, p.DecideUntraced(ctx, request).Decision.Verdict)
			assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { p.DecideUntraced(ctx, request) }), c.more)
			assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { p.Decide(ctx, request) }), c.more+1)
		})
	}
}
