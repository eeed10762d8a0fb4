package dialects

import "github.com/kandev/assent/pipeline"

// ReasonOpencodeFlatTitle: the title joins server and tool by one underscore. A
// person is asked.
const ReasonOpencodeFlatTitle pipeline.Reason = "opencode_flat_title"

// Opencode is the dialect of agent id "opencode-acp", which claims nothing: the
// agent is always asked about, unless a request supplies a qualified name, which
// none was seen to do.
//
// Seen: OpenCode 1.18.33. The only trace of the server is the title,
// sanitize(server)_sanitize(tool): "kandev_list_tasks". A second server
// "kandev_list" with a tool "tasks" gives the very same text and takes the call,
// so that the title cannot say which of the two will run.
//
// A shell command is the title of the request for a directory outside of the
// workspace, which has kind "other"; so a title can even be a qualified name.
// The request for the directory and the one for the command share one
// toolCallId.
type Opencode struct{}

// NewOpencode makes the dialect.
func NewOpencode() Opencode { return Opencode{} }

// Agent is "opencode-acp".
func (Opencode) Agent() pipeline.Agent { return "opencode-acp" }

// Claim says nothing, whatever the request holds.
func (Opencode) Claim(*pipeline.Request) (pipeline.Claim, error) {
	return pipeline.Claim{}, Error{Reason: ReasonOpencodeFlatTitle, Absent: true}
}
