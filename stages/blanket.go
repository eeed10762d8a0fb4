package stages

import (
	"context"

	"github.com/kandev/assent/pipeline"
)

// BlanketName is the name of the stage [Blanket].
const BlanketName pipeline.Name = "blanket"

// Reasons of [Blanket].
const (
	ReasonBlanketOff       pipeline.Reason = "no_blanket_approval"     // blanket approval is not switched on: the other stages decide
	ReasonBlanketApproval  pipeline.Reason = "blanket_approval"        // blanket approval: the first allow in the offered order
	ReasonBlanketFirst     pipeline.Reason = "blanket_first_option"    // blanket approval, and no allow is offered: the first option, whatever it is
	ReasonBlanketNoOptions pipeline.Reason = "blanket_without_options" // blanket approval has no option to select
)

// Blanket answers every request for a person who switched blanket approval on:
// with the first offered allow, once or always, whichever the agent put first.
//
// It looks wrong but is meant: without any allow it selects the first option,
// even a rejection. People who switch approval on want no questions at all, and
// an answer that rejects is an answer. No other stage may do that.
type Blanket struct {
	on bool
}

// NewBlanket makes the stage of one instance.
func NewBlanket(instance pipeline.Instance) Blanket { return Blanket{on: instance.AutoApprove} }

// BlanketFactory makes the stage for each instance.
func BlanketFactory() Factory { return PerInstance(BlanketName, NewBlanket) }

// Name is [BlanketName].
func (Blanket) Name() pipeline.Name { return BlanketName }

// Evaluate selects, or continues.
func (b Blanket) Evaluate(_ context.Context, ev pipeline.Evaluation) (pipeline.Decision, error) {
	if !b.on {
		return pipeline.Decision{Verdict: pipeline.Continue, Reason: ReasonBlanketOff}, nil
	}
	options := ev.Request.Options
	if len(options) == 0 {
		return pipeline.Decision{Verdict: pipeline.Continue, Reason: ReasonBlanketNoOptions}, nil
	}
	for i := range options {
		if pipeline.IsAllow(options[i].Kind) {
			return pipeline.Decision{Verdict: pipeline.Select, Option: i, Reason: ReasonBlanketApproval}, nil
		}
	}
	return pipeline.Decision{Verdict: pipeline.Select, Option: 0, Reason: ReasonBlanketFirst}, nil
}
