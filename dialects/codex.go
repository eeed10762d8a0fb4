package dialects

import (
	"strings"

	"github.com/kandev/assent/pipeline"
)

// Reasons of the Codex dialect: malformed, contradictory, silent.
const (
	ReasonCodexApproval pipeline.Reason = "codex_approval_marker_malformed" // params._meta.is_mcp_tool_approval is no bool
	ReasonCodexNoTool   pipeline.Reason = "codex_call_without_tool"         // the announced call has no server or no tool

	ReasonCodexConflict     pipeline.Reason = "codex_call_contradictory"  // the call was announced for two tools, or cannot be read
	ReasonCodexOnlyApproval pipeline.Reason = "codex_call_not_announced"  // the approval is for a call of an MCP tool that was never announced
	ReasonCodexOnlyCall     pipeline.Reason = "codex_approval_not_marked" // a call of an MCP tool is asked about as something else

	ReasonCodexSilent pipeline.Reason = "codex_no_mcp_call" // it is no call of an MCP tool: a shell command or a file change
)

// Codex reads the requests of codex-acp 2.6.0 (agent id "codex-acp"). Its tool
// call says nothing; the request's own _meta.is_mcp_tool_approval marks it as
// being about an MCP tool. The call was announced before by a tool_call with
// _meta.is_mcp_tool_call and rawInput {server, tool, arguments}, where the
// adapter itself wrote server and tool beside the model's arguments. Both
// markers must be there: without them rawInput is the model's own.
//
// With several calls of a server open, the adapter asks under an id of its own
// ("elicitation:…") that was never announced: one marker only, a person is asked.
type Codex struct{}

// NewCodex makes the dialect.
func NewCodex() Codex { return Codex{} }

// Agent is "codex-acp".
func (Codex) Agent() pipeline.Agent { return "codex-acp" }

// Claim is server and tool of the announced call.
func (Codex) Claim(req *pipeline.Request) (pipeline.Claim, error) {
	approval, wellFormed := flag(req.Meta, "is_mcp_tool_approval")
	call := &req.Call.Facts
	switch {
	case !wellFormed:
		return pipeline.Claim{}, Error{Reason: ReasonCodexApproval}
	case call.Conflict:
		return pipeline.Claim{}, Error{Reason: ReasonCodexConflict}
	case !approval && !call.Marked:
		return pipeline.Claim{}, Error{Reason: ReasonCodexSilent, Absent: true}
	case !call.Marked:
		return pipeline.Claim{}, Error{Reason: ReasonCodexOnlyApproval}
	case !approval:
		return pipeline.Claim{}, Error{Reason: ReasonCodexOnlyCall}
	case call.Server == "" || call.Tool == "":
		return pipeline.Claim{}, Error{Reason: ReasonCodexNoTool}
	}
	return pipeline.ClaimTool(call.Server, call.Tool), nil
}

// Observe keeps the marker, server and tool of a call. The facts of a call that
// is announced again are handed in too: if the marker stays, server and tool
// must stay the same, or the call is contradictory until it ends.
func (Codex) Observe(u *pipeline.ToolCallUpdate, f pipeline.DialectFacts) pipeline.DialectFacts {
	announced := u.RawInput.Given()
	if u.Start || u.Meta.Given() {
		marked, wellFormed := flag(u.Meta, "is_mcp_tool_call")
		// A marker that appears counts for the rawInput that comes with it only:
		// what came unmarked before it was not written by the adapter.
		announced = announced || u.Start || marked && !f.Marked
		f.Marked = marked
		f.Conflict = f.Conflict || !wellFormed
	}
	if !f.Marked || !announced {
		return f
	}
	server, _ := u.RawInput.Get("server").Text()
	tool, _ := u.RawInput.Get("tool").Text()
	known := f.Server != "" || f.Tool != ""
	if u.RawInput.Kind() == pipeline.MetaTooLarge || known && (server != f.Server || tool != f.Tool) {
		f.Conflict = true
		return f
	}
	f.Server, f.Tool = server, tool
	return f
}

// StartupFailed recognises the tool call by which codex-acp 2.6.0 says that it
// did not start a server of the session, because the user's or the project's
// configuration has one of the same name. Later requests look as if nothing
// had happened, but reach that other server.
func (Codex) StartupFailed(u *pipeline.ToolCallUpdate, server string) bool {
	return u.Status == "failed" && strings.HasPrefix(u.ID, "mcp_startup."+server+".")
}
