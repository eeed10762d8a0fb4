package wiring_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"go.uber.org/goleak"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/pipelinetest"
	"github.com/kandev/assent/stages"
	"github.com/kandev/assent/wiring"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// build really builds an application: fx.ValidateApp is a dry run that passes
// most mistakes of this kind.
func build(options ...fx.Option) (stages.PipelineFactory, error) {
	var factory stages.PipelineFactory
	app := fx.New(wiring.Module, fx.Options(options...), fx.Populate(&factory), fx.NopLogger)
	return factory, app.Err()
}

// extra is a stage of a third party that has no opinion.
type extra struct{}

func (extra) Name() pipeline.Name { return "extra" }

func (extra) Evaluate(context.Context, pipeline.Evaluation) (pipeline.Decision, error) {
	return pipeline.Decision{Verdict: pipeline.Continue, Reason: "no_opinion"}, nil
}

func extraFactory() stages.Factory { return stages.Shared("extra", extra{}) }

func withExtra() pipeline.Order { return slices.Insert(stages.DefaultOrder(), 3, "extra") }

func TestModuleDecides(t *testing.T) {
	factory, err := build()
	require.NoError(t, err)
	p, err := factory(pipelinetest.Instance())
	require.NoError(t, err)
	assert.Equal(t, stages.DefaultOrder(), p.Order())

	r := p.Decide(context.Background(), pipelinetest.Request(pipelinetest.Name("mcp__kandev__list_tasks")))
	assert.Equal(t, pipeline.Decision{Verdict: pipeline.Select, Reason: stages.ReasonInjectedMCP}, r.Decision)
	assert.Equal(t, stages.OptionName, r.Stage)

	_, err = factory(pipeline.Instance{Port: -1})
	assert.ErrorContains(t, err, "pipeline: port -1")
}

// The container and the plain constructor make the same pipelines.
func TestModuleHasWhatThePlainFactoryHas(t *testing.T) {
	composed, err := build()
	require.NoError(t, err)
	plain, err := stages.NewDefaultFactory()
	require.NoError(t, err)
	for _, d := range dialects.All() {
		instance := pipelinetest.Instance()
		instance.Agent = d.Agent()
		a, err := composed(instance)
		require.NoError(t, err)
		b, err := plain(instance)
		require.NoError(t, err)
		for _, edit := range []pipelinetest.Edit{
			pipelinetest.Name("mcp__kandev__list_tasks"),
			pipelinetest.Title("mcp__kandev__list_tasks", "other"),
			pipelinetest.CallMeta(`{"claudeCode":{"toolName":"mcp__kandev__list_tasks"}}`),
			pipelinetest.CallMeta(`{"toolName":"mcp__kandev__list_tasks"}`),
		} {
			request := pipelinetest.Request(edit)
			assert.Equal(t, b.Decide(context.Background(), request), a.Decide(context.Background(), request), d.Agent())
		}
	}
}

// Members of a group arrive in random order; the pipeline's order never varies.
func TestL63_TheOrderIsTheSameInEveryBuild(t *testing.T) {
	for range 1000 {
		factory, err := build(wiring.AsStage(extraFactory), fx.Replace(withExtra()))
		require.NoError(t, err)
		p, err := factory(pipeline.Instance{})
		require.NoError(t, err)
		require.Equal(t, withExtra(), p.Order())
	}
}

// Forgetting any one line fails when the application is built, by name.
func TestL63_ForgottenLinesFailByName(t *testing.T) {
	twice := append(withExtra(), "extra")
	registered := wiring.AsStage(extraFactory)
	cases := []struct {
		name    string
		options []fx.Option
		want    string // in the error; empty: fine
	}{
		{"both lines", []fx.Option{registered, fx.Replace(withExtra())}, ""},
		{"no line in the order", []fx.Option{registered}, `pipeline: stage "extra" is registered but has no place in the order`},
		{"no line in the wiring", []fx.Option{fx.Replace(withExtra())}, `pipeline: stage "extra" has a place in the order but is not registered`},
		{"two lines in the wiring", []fx.Option{registered, registered, fx.Replace(withExtra())}, `pipeline: stage "extra" is registered twice`},
		{"two places in the order", []fx.Option{registered, fx.Replace(twice)}, `pipeline: stage "extra" has two places in the order`},
		{"an empty order", []fx.Option{fx.Replace(pipeline.Order{})}, "pipeline: the order is empty"},
		{"a built-in stage left out of the order", []fx.Option{fx.Replace(stages.DefaultOrder()[1:])},
			`pipeline: stage "blanket" is registered but has no place in the order`},
		{"a nil stage", []fx.Option{fx.Replace(withExtra()), wiring.AsStage(func() stages.Factory { return stages.Shared("extra", nil) })},
			`stages: the factory of stage "extra" made nil`},
		{"an empty factory", []fx.Option{wiring.AsStage(func() stages.Factory { return stages.Factory{} })}, "has no name"},
		{"a factory that fails", []fx.Option{fx.Replace(withExtra()), wiring.AsStage(func() (stages.Factory, error) {
			return stages.Factory{}, errors.New("no licence")
		})}, "no licence"},
		{"a stage instead of its factory", []fx.Option{wiring.AsStage(func() extra { return extra{} })},
			"wiring: AsStage was given a func() wiring_test.extra: give it a function that returns a stages.Factory"},
		{"a value instead of a function", []fx.Option{wiring.AsStage(extraFactory())},
			"wiring: AsStage was given a stages.Factory: give it a function"},
		{"nothing", []fx.Option{wiring.AsStage(nil)}, "wiring: AsStage was given a <nil>: give it a function"},
		{"a dialect twice", []fx.Option{wiring.AsDialect(dialects.NewClaude)}, `dialects: agent "claude-acp" has two dialects`},
		{"a nil dialect", []fx.Option{wiring.AsDialect(func() dialects.Dialect { return nil })}, "is nil"},
		{"no dialect at all", []fx.Option{wiring.AsDialect(extraFactory)},
			"wiring: AsDialect was given a func() stages.Factory: give it a function that returns a dialects.Dialect"},
		{"a tool that can never be called", []fx.Option{fx.Replace(stages.NeverAutomatic{"delete*"})},
			`stages: stage "option": never automatic tool "delete*"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := build(c.options...)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

// The module fails by itself, also when nobody asks for a pipeline yet.
func TestModuleIsBuiltUnasked(t *testing.T) {
	app := fx.New(wiring.Module, wiring.AsStage(extraFactory), fx.NopLogger)
	assert.ErrorContains(t, app.Err(), `stage "extra"`)
}

// A host decorates where it wants the default and one more.
func TestModuleDecorated(t *testing.T) {
	factory, err := build(
		wiring.AsStage(extraFactory),
		fx.Decorate(func(o pipeline.Order) pipeline.Order { return slices.Insert(o, 0, "extra") }),
	)
	require.NoError(t, err)
	p, err := factory(pipeline.Instance{})
	require.NoError(t, err)
	assert.Equal(t, pipeline.Name("extra"), p.Order()[0])
}

// invented is a dialect of a third party, registered by its own type.
type invented struct{}

func (invented) Agent() pipeline.Agent { return pipelinetest.Agent }

func (invented) Claim(*pipeline.Request) (pipeline.Claim, error) {
	return pipeline.ClaimTool("kandev", "list_tasks"), nil
}

func TestAsDialect(t *testing.T) {
	for name, constructor := range map[string]any{
		"its own type":  func() invented { return invented{} },
		"the interface": func() dialects.Dialect { return invented{} },
	} {
		t.Run(name, func(t *testing.T) {
			factory, err := build(wiring.AsDialect(constructor))
			require.NoError(t, err)
			p, err := factory(pipelinetest.Instance())
			require.NoError(t, err)
			assert.Equal(t, pipeline.Select, p.Decide(context.Background(), pipelinetest.Request()).Decision.Verdict)
		})
	}
}

// fx must not be reachable from a request: the factory is what the plain
// constructor makes, and its pipelines hold nothing of the container.
func TestFactoryWorksWithoutTheApplication(t *testing.T) {
	factory, err := build()
	require.NoError(t, err)
	p, err := factory(pipelinetest.Instance())
	require.NoError(t, err)
	request := pipelinetest.Request(pipelinetest.Name("mcp__kandev__list_tasks"))
	assert.Zero(t, testing.AllocsPerRun(100, func() { p.DecideUntraced(context.Background(), request) }))
}
