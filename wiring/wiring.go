// Package wiring composes the stages and dialects with go.uber.org/fx. It holds
// lists and no logic: every constructor is an ordinary exported function of the
// package that owns it, and a host without fx calls those.
//
// [Module] provides one [stages.PipelineFactory] for the process. A pipeline per
// agent instance comes from calling that factory; fx is never asked again, since
// an application per instance would cost some hundred times a constructor.
//
// A host adds a stage with one line here, [AsStage], and one in the order:
//
//	fx.New(
//		wiring.Module,
//		wiring.AsStage(deletes.Factory),
//		fx.Replace(pipeline.Order{stages.BlanketName, …, deletes.Name, …}),
//	)
//
// The order decides, always: members of a group arrive in random order. A stage
// that has a place but no line, or a line but no place, or is there twice, or is
// nil, fails when the application is built, with the stage's name in the error.
package wiring

import (
	"fmt"
	"reflect"

	"go.uber.org/fx"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/stages"
)

// Module is everything that decides: the default order, the stages, the dialects
// and the factory of pipelines. A host replaces the order, or the list of tools
// that are never automatic, with fx.Replace or fx.Decorate.
var Module = fx.Module("permission",
	Stages,
	Dialects,
	fx.Provide(
		stages.DefaultOrder,
		stages.DefaultNeverAutomatic,
		newDialects,
		newPipelineFactory,
	),
	// fx builds only what somebody asks for. Asking here makes a forgotten line
	// fail when the host starts and not when its first agent does.
	fx.Invoke(func(stages.PipelineFactory) {}),
)

// The tags of the groups. Nobody writes them but AsStage, AsDialect, the two
// structs below and Dialects: fx takes a mistyped tag for a group of its own and
// says nothing.
const (
	stageGroup   = `group:"permission.stages"`
	dialectGroup = `group:"permission.dialects"`
)

type stagesIn struct {
	fx.In
	Order     pipeline.Order
	Factories []stages.Factory `group:"permission.stages"`
}

type dialectsIn struct {
	fx.In
	Dialects []dialects.Dialect `group:"permission.dialects"`
}

func newPipelineFactory(in stagesIn) (stages.PipelineFactory, error) {
	return stages.NewPipelineFactory(in.Order, in.Factories)
}

func newDialects(in dialectsIn) (dialects.Set, error) { return dialects.Index(in.Dialects) }

// AsStage registers a stage: constructor is a function that returns a
// [stages.Factory], with an error or without, and takes what the application has.
func AsStage(constructor any) fx.Option {
	return member("AsStage", constructor, reflect.TypeFor[stages.Factory](), fx.ResultTags(stageGroup))
}

// AsDialect registers a dialect: constructor is a function that returns a
// [dialects.Dialect] or a type that is one.
func AsDialect(constructor any) fx.Option {
	return member("AsDialect", constructor, reflect.TypeFor[dialects.Dialect](), fx.As(new(dialects.Dialect)), fx.ResultTags(dialectGroup))
}

// member puts what a constructor returns into a group. What it returns is checked
// here: fx would fill a group that nobody reads and say nothing.
func member(helper string, constructor any, want reflect.Type, annotations ...fx.Annotation) fx.Option {
	t := reflect.TypeOf(constructor)
	if t == nil || t.Kind() != reflect.Func || t.NumOut() == 0 || !t.Out(0).AssignableTo(want) {
		return fx.Error(fmt.Errorf("wiring: %s was given a %T: give it a function that returns a %s", helper, constructor, want))
	}
	return fx.Provide(fx.Annotate(constructor, annotations...))
}
