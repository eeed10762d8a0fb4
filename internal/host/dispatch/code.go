package dispatch

// Code names what went wrong; clients act on it.
type Code string

// The codes of errors.
const (
	CodeForbidden        Code = "forbidden"          // this caller may not dispatch this action
	CodeUnknownAction    Code = "unknown_action"     // there is no such action
	CodeInvalidRequest   Code = "invalid_request"    // the message around the payload cannot be read
	CodeInvalidPayload   Code = "invalid_payload"    // the payload does not fit the action's schema
	CodeNotFound         Code = "not_found"          // there is none, or the caller may not know of it
	CodeConflict         Code = "conflict"           // the state of the thing does not allow it
	CodeStale            Code = "stale"              // what was answered is over
	CodeOptionRequired   Code = "option_required"    // the answer has to name an option
	CodeOptionNotOffered Code = "option_not_offered" // the answer names an option that was not offered
	CodeNotSupported     Code = "not_supported"      // the agent cannot do it
	CodeUnavailable      Code = "unavailable"        // not now: the server ends, or what it needs is not there
	CodeRateLimited      Code = "rate_limited"       // too many requests
	CodeTooLarge         Code = "too_large"          // the message is larger than the cap
	CodeInternal         Code = "internal"           // a fault of the server
)

// Error is an error that a caller is told. The message is for people and holds
// nothing of a payload. Any other error of a handler becomes [CodeInternal], without
// its text.
type Error struct {
	Code    Code
	Message string
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }
