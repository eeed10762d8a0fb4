package stages

import (
	"context"

	"github.com/kandev/assent/pipeline"
)

// PendingName is the name of the stage [Pending].
const PendingName pipeline.Name = "pending"

// ReasonNobodyApproved: no stage approved, and none said why.
const ReasonNobodyApproved pipeline.Reason = "nobody_approved"

// Pending asks a person, with the first reason that kept the request off the
// automatic path: "it still asks" has to explain itself.
type Pending struct{}

// PendingFactory shares one stage among all instances.
func PendingFactory() Factory { return Shared(PendingName, Pending{}) }

// Name is [PendingName].
func (Pending) Name() pipeline.Name { return PendingName }

// Evaluate always asks.
func (Pending) Evaluate(_ context.Context, ev pipeline.Evaluation) (pipeline.Decision, error) {
	if ev.Facts.Kept != "" {
		return pipeline.Decision{Verdict: pipeline.Pend, Reason: ev.Facts.Kept}, nil
	}
	return pipeline.Decision{Verdict: pipeline.Pend, Reason: ReasonNobodyApproved}, nil
}
