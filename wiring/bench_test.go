package wiring_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/ratio"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/stages"
	"github.com/kandev/assent/wiring"
)

// BenchmarkRatio measures what fx costs: a pipeline for one more instance, and
// one more decision, against the same made by hand.
func BenchmarkRatio(b *testing.B) {
	var factory stages.PipelineFactory
	var set dialects.Set
	require.NoError(b, fx.New(wiring.Module, fx.NopLogger, fx.Populate(&factory, &set)).Err())
	instance := pipeline.Instance{Agent: "claude-acp", Port: 41001, Injected: true}
	dialect, _ := set.For(instance)
	plain := func() (*pipeline.Pipeline, error) {
		option, err := stages.NewOption(instance, dialect, stages.DefaultNeverAutomatic())
		if err != nil {
			return nil, err
		}
		return pipeline.New(stages.DefaultOrder(), []pipeline.Stage{
			stages.NewBlanket(instance), stages.Identity{}, stages.NewDialect(instance, dialect),
			stages.NewProvenance(instance), option, stages.Pending{},
		})
	}
	byFx, err := factory(instance)
	require.NoError(b, err)
	byHand, err := plain()
	require.NoError(b, err)
	req := &pipeline.Request{Call: pipeline.ToolCall{Name: pipeline.NewText("mcp__kandev__list_tasks")}, Options: []pipeline.Option{{ID: "a", Kind: pipeline.AllowOnce}}}
	ctx := context.Background()
	decides := func(p *pipeline.Pipeline) func(n int) {
		return func(n int) {
			for range n {
				sink = p.DecideUntraced(ctx, req).Decision
			}
		}
	}
	ratio.Run(b,
		ratio.Figure{Name: "instance-from-fx-factory/plain-constructor", Limit: 1.5,
			Subject: func(n int) {
				for range n {
					made, _ = factory(instance)
				}
			},
			Reference: func(n int) {
				for range n {
					made, _ = plain()
				}
			}},
		ratio.Figure{Name: "decision-with-fx/without", Limit: 1.1, Subject: decides(byFx), Reference: decides(byHand)},
	)
}

var (
	sink pipeline.Decision
	made *pipeline.Pipeline
)
