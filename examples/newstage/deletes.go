// Package newstage shows everything that a stage of your own takes: this file,
// its test, one line in the order and one where the host composes (here
// examples/fx). Forgetting either line is an error at start-up that names the
// stage.
package newstage

import (
	"context"
	"strings"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/stages"
)

// Name of the stage: in the order, in traces and in logs.
const Name pipeline.Name = "deletes"

// The reasons, one for every way out.
const (
	ReasonDeletes       pipeline.Reason = "tool_deletes"         // a person answers for it
	ReasonDeletesNot    pipeline.Reason = "tool_does_not_delete" // no opinion
	ReasonNobodyKnowsIt pipeline.Reason = "tool_not_known"       // no opinion either: later stages ask
)

// Deletes asks a person about every tool whose name starts with "delete_", also
// about those of the host's own server.
type Deletes struct{}

// Factory registers the stage. It is the same for all instances; a stage that
// depends on the instance uses stages.PerInstance.
func Factory() stages.Factory { return stages.Shared(Name, Deletes{}) }

// Name is [Name].
func (Deletes) Name() pipeline.Name { return Name }

// Evaluate asks, or says in so many words that it has no opinion.
func (Deletes) Evaluate(_ context.Context, ev pipeline.Evaluation) (pipeline.Decision, error) {
	switch identity := ev.Facts.Identity; {
	case identity.State() != pipeline.Named:
		return pipeline.Decision{Verdict: pipeline.Continue, Reason: ReasonNobodyKnowsIt}, nil
	case strings.HasPrefix(identity.Tool(), "delete_"):
		return pipeline.Decision{Verdict: pipeline.Pend, Reason: ReasonDeletes}, nil
	}
	return pipeline.Decision{Verdict: pipeline.Continue, Reason: ReasonDeletesNot}, nil
}

// Order is the host's own, written out in full: the default with one line more.
func Order() pipeline.Order {
	return pipeline.Order{
		stages.BlanketName,
		stages.IdentityName,
		stages.DialectName,
		stages.ProvenanceName,
		Name, // before option, which is the only one that approves
		stages.OptionName,
		stages.PendingName,
	}
}
