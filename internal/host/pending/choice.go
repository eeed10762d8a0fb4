package pending

import (
	"slices"

	"github.com/kandev/assent/pipeline"
)

// choice is an option's index, or below zero the reason why none is clear.
type choice int16

// unclear are the reasons that a choice can hold. The last one stands for any
// reason that is not listed: then an option has to be named, too.
var unclear = [...]pipeline.Reason{
	pipeline.ReasonNoAllowOffered,
	pipeline.ReasonNoRejectOffered,
	pipeline.ReasonDuplicateOption,
	pipeline.ReasonEmptyOptionID,
	pipeline.ReasonTwinAllows,
	pipeline.ReasonTwinRejects,
}

func newChoice(index int, reason pipeline.Reason) choice {
	if reason == pipeline.ReasonOptionChosen {
		return choice(index)
	}
	i := slices.Index(unclear[:], reason)
	if i < 0 {
		i = len(unclear) - 1
	}
	return choice(-1 - i)
}

// cancelled is the index that stands for the outcome "cancelled".
const cancelled = -1

// index is the option's index, or [cancelled] and the reason why there is none.
func (c choice) index() (int, pipeline.Reason) {
	if c >= 0 {
		return int(c), pipeline.ReasonOptionChosen
	}
	return cancelled, unclear[-1-c]
}

// choose finds what an answer selects: an option's index, or [cancelled]. An
// error leaves the offer open.
func (r *record) choose(a Answer) (int, pipeline.Reason, error) {
	switch a.kind {
	case answerOption:
		i, err := r.optionList().named(a.option)
		return i, ReasonSelected, err
	case answerAllow:
		i, reason := r.allow.index()
		if reason != pipeline.ReasonOptionChosen {
			return i, "", Error{Code: CodeOptionRequired, Reason: reason}
		}
		return i, ReasonAllowed, nil
	case answerDeny:
		i, reason := r.deny.index()
		if reason == pipeline.ReasonTwinRejects {
			return i, "", Error{Code: CodeOptionRequired, Reason: reason}
		}
		return i, ReasonDenied, nil // where no reject is clear: cancelled
	case answerCancel:
		return cancelled, ReasonCancelled, nil
	}
	return cancelled, "", Error{Code: CodeOptionRequired, Reason: ReasonNoAnswer}
}
