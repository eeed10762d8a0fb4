package dialects

import "github.com/kandev/assent/pipeline"

// ReasonKilocodeFlatTitle: the title joins server and tool by one underscore. A
// person is asked.
const ReasonKilocodeFlatTitle pipeline.Reason = "kilocode_flat_title"

// Kilocode is the dialect of agent id "kilocode-acp", which claims nothing: the
// agent is always asked about, unless a request supplies a qualified name, which
// none was seen to do.
//
// Seen: Kilo Code 7.7.9. Like OpenCode, from which it stems, it sends the title
// sanitize(server)_sanitize(tool) and nothing else: server "kandev_list" with
// tool "tasks" and server "kandev" with tool "list_tasks" look the same.
//
// Its request for a directory outside the workspace carries the description of a
// shell call, which is the model's text, as the title, with kind "other" and
// without name or metadata. Such a title can be a qualified name, in the shape
// of an old Claude adapter: why titles count for agent id "claude-acp" alone.
type Kilocode struct{}

// NewKilocode makes the dialect.
func NewKilocode() Kilocode { return Kilocode{} }

// Agent is "kilocode-acp".
func (Kilocode) Agent() pipeline.Agent { return "kilocode-acp" }

// Claim says nothing, whatever the request holds.
func (Kilocode) Claim(*pipeline.Request) (pipeline.Claim, error) {
	return pipeline.Claim{}, Error{Reason: ReasonKilocodeFlatTitle, Absent: true}
}
