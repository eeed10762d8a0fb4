package dialects

import "github.com/kandev/assent/pipeline"

// ReasonGeminiDisplayTitle: the server stands only in a display title. A person
// is asked.
const ReasonGeminiDisplayTitle pipeline.Reason = "gemini_display_title"

// Gemini is the dialect of agent id "gemini-acp", which claims nothing: the
// agent is always asked about, unless a request supplies a qualified name, which
// none was seen to do.
//
// Seen: gemini-cli 0.61.0. An MCP request has the title "list_tasks (kandev MCP
// Server)", no name, no metadata, no raw input, and no tool_call comes before
// it. An argument called "command" replaces the title, and a shell command is
// shown as its own text, so that both can read like the tool of another server.
//
// The toolCallId holds the words too, but it is the agent's own business and
// flat: mcp_<server>_<tool>. Its first allow_always allows every tool of the
// server.
type Gemini struct{}

// NewGemini makes the dialect.
func NewGemini() Gemini { return Gemini{} }

// Agent is "gemini-acp".
func (Gemini) Agent() pipeline.Agent { return "gemini-acp" }

// Claim says nothing, whatever the request holds.
func (Gemini) Claim(*pipeline.Request) (pipeline.Claim, error) {
	return pipeline.Claim{}, Error{Reason: ReasonGeminiDisplayTitle, Absent: true}
}
