package main

import (
	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/replay"
	"github.com/kandev/assent/stages"
)

// newRunner composes what replay and check need.
func newRunner() (replay.Runner, error) {
	set, err := dialects.Index(dialects.All())
	if err != nil {
		return replay.Runner{}, err
	}
	pipelines, err := stages.NewDefaultFactory()
	if err != nil {
		return replay.Runner{}, err
	}
	return replay.Runner{Pipelines: pipelines, Dialects: set}, nil
}
