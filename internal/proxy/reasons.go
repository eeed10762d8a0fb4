package proxy

import (
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/pipeline"
)

// Reasons of the relay, under the stage of the host. All but the last
// one have the verdict pend: the pipeline would have approved. That one has the verdict
// cancel.
const (
	// ReasonTurnCancelled: the client cancelled the turn, which has not ended; the
	// client answers what is still asked of it.
	ReasonTurnCancelled = pending.ReasonSessionCancelled
	// ReasonClientUnreadable: the client sent a line that is no message. It went to
	// the agent, and nobody knows what the agent made of it.
	ReasonClientUnreadable pipeline.Reason = "client_line_unreadable"
	// ReasonRelayed: the client had the offer already when it was decided.
	ReasonRelayed pipeline.Reason = "relayed_already"
	// ReasonIDInUse: an earlier request of the agent with this id is still to be
	// answered, or its answer by the client is still owed, or too many are.
	ReasonIDInUse pipeline.Reason = "request_id_in_use"
)
