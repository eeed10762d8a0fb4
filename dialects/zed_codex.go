package dialects

import "github.com/kandev/assent/pipeline"

// ReasonZedCodexRawInput: server and tool stand only in the raw input. A person
// is asked.
const ReasonZedCodexRawInput pipeline.Reason = "zed_codex_raw_input"

// ZedCodex is the dialect of agent id "zed-codex-acp", which claims nothing: the
// agent is always asked about, unless a request supplies a qualified name, which
// none was seen to do.
//
// Seen: @zed-industries/codex-acp 0.16.0, the adapter written in Rust; codex-acp
// 2.6.0 is another program, see [Codex]. The request has the server in
// rawInput.server_name and the tool in a sentence meant for people; the earlier
// tool_call has both in its rawInput. Neither carries a marker outside of the raw
// input which says that the adapter wrote it, and raw input alone never
// identifies a tool.
//
// The title of a shell request is the command, so that it can read like
// anything. Request ids are strings.
type ZedCodex struct{}

// NewZedCodex makes the dialect.
func NewZedCodex() ZedCodex { return ZedCodex{} }

// Agent is "zed-codex-acp".
func (ZedCodex) Agent() pipeline.Agent { return "zed-codex-acp" }

// Claim says nothing, whatever the request holds.
func (ZedCodex) Claim(*pipeline.Request) (pipeline.Claim, error) {
	return pipeline.Claim{}, Error{Reason: ReasonZedCodexRawInput, Absent: true}
}
