package nets

import "github.com/kandev/assent/pipeline"

// Stage is the name under which a host reports what it decides itself, by the
// state of a session or an instance and not by what is asked.
const Stage pipeline.Name = "manager"

// Reasons of the nets, each with the verdict pend: the pipeline would have
// approved, and a net around it says that a person has to. Blanket approval is
// the person's own choice and stays as it is until the task ends.
const (
	// ReasonTripwireFired: an approved call never arrived at the endpoint, so the
	// instance has lost automatic approval until it is restarted.
	ReasonTripwireFired pipeline.Reason = "tripwire_fired"
	// ReasonEndpointUnreachable: an approved call of this session failed because
	// the endpoint itself cannot be reached.
	ReasonEndpointUnreachable pipeline.Reason = "injected_server_unreachable"
	// ReasonIDTooLong: the id of the call or its session is longer than any that
	// could be followed to the endpoint.
	ReasonIDTooLong pipeline.Reason = "call_id_too_long"
	// ReasonTooManyAwaited: so many approved calls of this session have not ended
	// that no further one could be watched.
	ReasonTooManyAwaited pipeline.Reason = "too_many_calls_awaited"
	// ReasonEndUnreadable: a line of the agent could not be read, and an approved
	// call that has not arrived may have ended in it.
	ReasonEndUnreadable pipeline.Reason = "call_end_unreadable"
	// ReasonTaskEnded: the task of the agent has ended, so nothing is approved for it
	// automatically any more, not by blanket approval either.
	ReasonTaskEnded pipeline.Reason = "task_ended"
)
