package dialects

import "github.com/kandev/assent/pipeline"

// ReasonCopilotNoServer: the request names a tool but no server. A person is
// asked.
const ReasonCopilotNoServer pipeline.Reason = "copilot_no_server"

// Copilot is the dialect of agent id "copilot-acp", which claims nothing: the
// agent is always asked about, unless a request supplies a qualified name, which
// none was seen to do.
//
// Seen: Copilot CLI 1.0.102. The title of the request is the bare tool,
// "list_tasks"; no member names the server. The earlier tool_call has the title
// "kandev-list_tasks", where server "kandev-x" with tool "y" and server "kandev"
// with tool "x-y" are the same, and where an argument called "description"
// replaces the text.
//
// A server of the same name in the user's configuration wins over the one in
// session/new, unseen. Some toolCallIds are constants such as
// "shell-permission".
type Copilot struct{}

// NewCopilot makes the dialect.
func NewCopilot() Copilot { return Copilot{} }

// Agent is "copilot-acp".
func (Copilot) Agent() pipeline.Agent { return "copilot-acp" }

// Claim says nothing, whatever the request holds.
func (Copilot) Claim(*pipeline.Request) (pipeline.Claim, error) {
	return pipeline.Claim{}, Error{Reason: ReasonCopilotNoServer, Absent: true}
}
