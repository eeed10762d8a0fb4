package main

import (
	"go.uber.org/dig"
	"go.uber.org/fx"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/replay"
	"github.com/kandev/assent/stages"
	"github.com/kandev/assent/wiring"
)

// compose builds what decides, once for the process: the factory of pipelines and
// the dialects that it was built with.
func compose(more ...fx.Option) (pipelines stages.PipelineFactory, set dialects.Set, err error) {
	app := fx.New(wiring.Module, fx.Options(more...), fx.NopLogger, fx.Populate(&pipelines, &set))
	return pipelines, set, dig.RootCause(app.Err()) // without what the container did meanwhile
}

// composeHost is compose for a host with a live endpoint: it has the witness.
func composeHost() (stages.PipelineFactory, dialects.Set, error) {
	return compose(wiring.AsStage(stages.WitnessFactory), fx.Replace(stages.HostOrder()))
}

// newRunner composes what replay and check need.
func newRunner() (replay.Runner, error) {
	pipelines, set, err := compose()
	return replay.Runner{Pipelines: pipelines, Dialects: set}, err
}
