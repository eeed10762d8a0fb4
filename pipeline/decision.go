package pipeline

import "strconv"

// Verdict is what a stage, or the whole pipeline, says about a request.
type Verdict uint8

const (
	// Pend asks a person. It is the zero value on purpose: an empty decision
	// can never approve anything.
	Pend Verdict = iota
	// Select answers with one offered option, named by its index.
	Select
	// Cancel answers with the outcome "cancelled".
	Cancel
	// Continue has no opinion: the next stage decides. It must be said in so
	// many words; it is not the zero value.
	Continue
)

// String gives the verdict's name as it stands in decision lines.
func (v Verdict) String() string {
	switch v {
	case Pend:
		return "pend"
	case Select:
		return "select"
	case Cancel:
		return "cancel"
	case Continue:
		return "continue"
	}
	return "verdict(" + strconv.Itoa(int(v)) + ")"
}

// Reason names one way out of a stage. Reasons are constants of the stage that
// gives them and a public contract; nothing from a request ever goes into one.
type Reason string

// Reasons of the loop itself. Each of them comes with [Pend].
const (
	ReasonNoRequest        Reason = "no_request"          // there is no request to decide about
	ReasonNothingDecided   Reason = "nothing_decided"     // every stage left it to the next
	ReasonStageError       Reason = "stage_error"         // a stage returned an error
	ReasonStagePanic       Reason = "stage_panic"         // a stage panicked
	ReasonUnknownVerdict   Reason = "unknown_verdict"     // a stage invented a verdict
	ReasonOptionNotOffered Reason = "option_not_offered"  // a stage named an index outside the offer
	ReasonFactSetTwice     Reason = "fact_set_twice"      // a stage set a fact that another one had set
	ReasonUnnamed          Reason = "no_reason_was_given" // a stage decided without naming its reason
)

// Decision is what a stage returns. It is comparable, so tests compare it whole.
type Decision struct {
	// Verdict; the zero value asks a person.
	Verdict Verdict
	// Option is the index of the selected option in the offer; it counts only
	// with [Select]. An index says nothing that was not offered.
	Option int
	// Learned are the facts that this stage adds. Only the loop merges them.
	Learned Facts
	// Reason names why, for people, logs and tests.
	Reason Reason
}

// Facts are what the stages have learned about a request, a closed set.
type Facts struct {
	// Identity of the tool, once a stage established or refused it.
	Identity Identity
	// Kept is the reason why the request cannot be approved automatically any
	// more: the first one counts, and the pending stage repeats it to the person.
	Kept Reason
	// Injected says that the call is for a tool of the MCP server that the host
	// itself injected into this session.
	Injected bool
}

// merge adds what a stage learned. It fails when a fact would be set twice.
// A refused identity may always replace another one: taking trust away is not
// a conflict.
func (f *Facts) merge(learned *Facts) bool {
	identified := learned.Identity.state != Unknown
	if identified && f.Identity.state != Unknown && learned.Identity.state != Refused ||
		learned.Kept != "" && f.Kept != "" ||
		learned.Injected && f.Injected {
		return false
	}
	if identified {
		f.Identity = learned.Identity
	}
	if learned.Kept != "" {
		f.Kept = learned.Kept
	}
	f.Injected = f.Injected || learned.Injected
	return true
}
