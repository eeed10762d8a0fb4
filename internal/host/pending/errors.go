package pending

import "github.com/kandev/assent/pipeline"

// Code tells the errors of this package apart. Codes are a public contract.
type Code string

// Codes of answers that came to nothing. After [CodeOptionNotOffered] and
// [CodeOptionRequired] the offer is still open; so it is after [CodeMismatch],
// for its own session.
const (
	CodeStale            Code = "stale"              // it ended without a person: session, agent or host is gone
	CodeAlreadyResolved  Code = "already_resolved"   // somebody answered before
	CodeExpired          Code = "expired"            // it waited for as long as it was allowed to
	CodeWithdrawn        Code = "withdrawn"          // the agent took it back
	CodeNotFound         Code = "not_found"          // no such request id, or it ended long ago
	CodeMismatch         Code = "mismatch"           // the request id belongs to another instance or session
	CodeOptionNotOffered Code = "option_not_offered" // the offer has no such option
	CodeOptionRequired   Code = "option_required"    // allow or deny is not clear enough: name an option
)

// Codes of offers that cannot wait. Except for [CodeDecided] and
// [CodeIncomplete] such an offer was answered "cancelled".
const (
	CodeTooManyOpen Code = "too_many_open"
	CodeTooLarge    Code = "offer_too_large"
	CodeClosed      Code = "closed"
	CodeDecided     Code = "already_decided"
	CodeIncomplete  Code = "incomplete_offer"
)

// Error is every error of this package. It is comparable and holds nothing from
// a request.
type Error struct {
	Code Code
	// Reason says more where there is more to say: why the offer ended, or why
	// an option has to be named.
	Reason pipeline.Reason
	// Same says, with [CodeAlreadyResolved], that the answer that won was this
	// very answer: a retry can take it for done.
	Same bool
}

// The errors without their details, for [errors.Is].
var (
	ErrStale            = Error{Code: CodeStale}
	ErrAlreadyResolved  = Error{Code: CodeAlreadyResolved}
	ErrExpired          = Error{Code: CodeExpired}
	ErrWithdrawn        = Error{Code: CodeWithdrawn}
	ErrNotFound         = Error{Code: CodeNotFound}
	ErrMismatch         = Error{Code: CodeMismatch}
	ErrOptionNotOffered = Error{Code: CodeOptionNotOffered}
	ErrOptionRequired   = Error{Code: CodeOptionRequired}
	ErrTooManyOpen      = Error{Code: CodeTooManyOpen}
	ErrTooLarge         = Error{Code: CodeTooLarge}
	ErrClosed           = Error{Code: CodeClosed}
	ErrDecided          = Error{Code: CodeDecided}
	ErrIncomplete       = Error{Code: CodeIncomplete}
)

// Error says what happened to the answer or offer, and the reason's name.
func (e Error) Error() string {
	text := "pending: " + e.text()
	if e.Reason != "" {
		text += " (" + string(e.Reason) + ")"
	}
	return text
}

func (e Error) text() string {
	switch e.Code {
	case CodeStale:
		return "the request ended before it was answered; nothing was sent"
	case CodeAlreadyResolved:
		return "the request is already answered"
	case CodeExpired:
		return "the request expired; nothing was sent"
	case CodeWithdrawn:
		return "the agent withdrew the request; nothing was sent"
	case CodeNotFound:
		return "no such request; list the open ones"
	case CodeMismatch:
		return "the request belongs to another instance or session"
	case CodeOptionNotOffered:
		return "the request has no such option; it stays open"
	case CodeOptionRequired:
		return "name one of the options; the request stays open"
	case CodeTooManyOpen:
		return "too many requests are open; this one was cancelled"
	case CodeTooLarge:
		return "the request is too large to be shown; it was cancelled"
	case CodeClosed:
		return "the store is closed; the request was cancelled"
	case CodeDecided:
		return "the request is decided already; only one that pends can wait"
	case CodeIncomplete:
		return "an offer needs an instance, a request and a function that delivers its answer"
	}
	return "unknown error"
}

// Is matches errors of the same code, whatever their details.
func (e Error) Is(target error) bool {
	t, ok := target.(Error)
	return ok && t.Code == e.Code
}
