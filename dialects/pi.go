package dialects

import "github.com/kandev/assent/pipeline"

// ReasonPiExtensionTitle: an extension asks, with any title. A person is asked.
const ReasonPiExtensionTitle pipeline.Reason = "pi_extension_title"

// Pi is the dialect of agent id "pi-acp", which claims nothing: the agent is
// always asked about, unless a request supplies a qualified name, which none was
// seen to do.
//
// Seen: pi-acp 0.0.34. It does not use the servers of session/new and never asks
// by itself: tools that no extension guards run unasked.
//
// Requests come from extensions, under an id of their own ("pi-ui-…"), with kind
// "other" and with a title and a message that the extension chooses:
// "mcp__kandev__create_task" may stand above a shell command. Nothing ties the
// request to the tool call that it is about.
type Pi struct{}

// NewPi makes the dialect.
func NewPi() Pi { return Pi{} }

// Agent is "pi-acp".
func (Pi) Agent() pipeline.Agent { return "pi-acp" }

// Claim says nothing, whatever the request holds.
func (Pi) Claim(*pipeline.Request) (pipeline.Claim, error) {
	return pipeline.Claim{}, Error{Reason: ReasonPiExtensionTitle, Absent: true}
}
