package stages

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
)

// Factory makes one stage for an agent instance. Settings of an instance live in
// its stages, never in a request.
type Factory struct {
	// Name of the stages that New makes.
	Name pipeline.Name
	// New makes the stage of one instance. It may return the same one each time,
	// since stages keep nothing.
	New func(pipeline.Instance) (pipeline.Stage, error)
}

// PerInstance is the factory of a stage that depends on the instance and cannot
// fail to be made.
func PerInstance[S pipeline.Stage](name pipeline.Name, construct func(pipeline.Instance) S) Factory {
	return Factory{Name: name, New: func(i pipeline.Instance) (pipeline.Stage, error) { return construct(i), nil }}
}

// Shared is the factory of a stage that is the same for every instance.
func Shared(name pipeline.Name, s pipeline.Stage) Factory {
	return Factory{Name: name, New: func(pipeline.Instance) (pipeline.Stage, error) { return s, nil }}
}

// PipelineFactory makes the pipeline of one agent instance. It is what a host
// keeps: one for the process, called once per instance, safe for concurrent use.
type PipelineFactory func(pipeline.Instance) (*pipeline.Pipeline, error)

// NewPipelineFactory checks that order and factories fit together, by building
// one pipeline for the zero instance: a stage that is nil, nameless, registered
// twice, registered without a place, or placed without being registered is an
// error here, by name, and not at the first request.
func NewPipelineFactory(order pipeline.Order, factories []Factory) (PipelineFactory, error) {
	order, factories = slices.Clone(order), slices.Clone(factories)
	if err := checkFactories(factories); err != nil {
		return nil, err
	}
	build := func(instance pipeline.Instance) (*pipeline.Pipeline, error) {
		return newPipeline(order, factories, instance)
	}
	if _, err := build(pipeline.Instance{}); err != nil {
		return nil, err
	}
	return build, nil
}

// NewDefaultFactory is the factory for everything that this module brings: the
// default order, its stages, all dialects.
func NewDefaultFactory() (PipelineFactory, error) {
	set, err := dialects.Index(dialects.All())
	if err != nil {
		return nil, err
	}
	return NewPipelineFactory(DefaultOrder(), Builtin(set))
}

func checkFactories(factories []Factory) error {
	var problems []error
	for i, f := range factories {
		switch {
		case f.Name == "":
			problems = append(problems, fmt.Errorf("stages: the factory number %d has no name", i+1))
		case f.New == nil:
			problems = append(problems, fmt.Errorf("stages: the factory of stage %q has no New function", f.Name))
		}
	}
	return errors.Join(problems...)
}

func newPipeline(order pipeline.Order, factories []Factory, instance pipeline.Instance) (*pipeline.Pipeline, error) {
	if err := instance.Check(); err != nil {
		return nil, err
	}
	made := make([]pipeline.Stage, 0, len(factories))
	for _, f := range factories {
		s, err := f.make(instance)
		if err != nil {
			return nil, err
		}
		made = append(made, s)
	}
	return pipeline.New(order, made)
}

// make calls New and holds the result against the factory's name, so that every
// mistake is reported under the name that stands in the order. A nil pointer in
// the interface shows by the panic of its Name method.
func (f Factory) make(instance pipeline.Instance) (s pipeline.Stage, err error) {
	defer func() {
		if recover() != nil {
			s, err = nil, fmt.Errorf("stages: stage %q panicked while it was made: is it nil?", f.Name)
		}
	}()
	s, err = f.New(instance)
	switch {
	case err != nil:
		return nil, fmt.Errorf("stages: stage %q: %w", f.Name, err)
	case s == nil:
		return nil, fmt.Errorf("stages: the factory of stage %q made nil", f.Name)
	case s.Name() != f.Name:
		return nil, fmt.Errorf("stages: the factory of stage %q made a stage named %q", f.Name, s.Name())
	}
	return s, nil
}
