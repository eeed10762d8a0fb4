package dialects

import "github.com/kandev/assent/pipeline"

// ReasonClineOwnServers: this agent ignores the servers of session/new. A person is
// asked.
const ReasonClineOwnServers pipeline.Reason = "cline_own_servers"

// Cline is the dialect of agent id "cline-acp", which claims nothing: the agent
// is always asked about, unless a request supplies a qualified name, which none
// was seen to do.
//
// Seen: Cline 3.0.65. It does not use the servers of session/new at all: every
// MCP tool that it calls belongs to a server of its own settings, whatever that
// server is called. An injected server is never contacted, so that no request
// can be for it.
//
// The title is "<server>__<tool>: " with the arguments in JSON, cut to a length.
type Cline struct{}

// NewCline makes the dialect.
func NewCline() Cline { return Cline{} }

// Agent is "cline-acp".
func (Cline) Agent() pipeline.Agent { return "cline-acp" }

// Claim says nothing, whatever the request holds.
func (Cline) Claim(*pipeline.Request) (pipeline.Claim, error) {
	return pipeline.Claim{}, Error{Reason: ReasonClineOwnServers, Absent: true}
}
