package dialects

import (
	"strings"

	"github.com/kandev/assent/pipeline"
)

// Reasons of the Claude dialect: malformed, contradictory, silent.
const (
	ReasonClaudeMeta     pipeline.Reason = "claude_meta_malformed"       // the call's _meta is no object
	ReasonClaudeCode     pipeline.Reason = "claude_code_malformed"       // the call's _meta.claudeCode is no object
	ReasonClaudeToolName pipeline.Reason = "claude_tool_name_malformed"  // _meta.claudeCode.toolName is no string
	ReasonClaudeServer   pipeline.Reason = "claude_mcp_server_malformed" // _meta.claudeCode.mcpServer is no object

	ReasonClaudeNamesDiffer pipeline.Reason = "claude_names_differ"          // _meta.claudeCode.toolName is not the name of the request
	ReasonClaudeOtherServer pipeline.Reason = "claude_mcp_server_is_another" // _meta.claudeCode.mcpServer.name is not the server of the name
	ReasonClaudeOtherSource pipeline.Reason = "claude_mcp_source_is_another" // _meta.claudeCode.mcpServer.source is not "dynamic"

	ReasonClaudeNameStands  pipeline.Reason = "claude_name_stands"        // the request has a name, and the messages add nothing
	ReasonClaudeSilent      pipeline.Reason = "claude_silent"             // the messages have no name, no toolName and no title of a tool
	ReasonClaudeTitleOff    pipeline.Reason = "claude_title_off"          // titles of this instance are not read
	ReasonClaudeTitleNamed  pipeline.Reason = "claude_title_after_a_name" // this adapter sends names, so its titles are not read
	ReasonClaudeTitleKind   pipeline.Reason = "claude_title_of_this_kind" // the title is not read: the kind is not "other"
	ReasonClaudeTitleNoName pipeline.Reason = "claude_title_is_no_name"   // the title is no qualified name
)

// Claude reads the effective tool calls of claude-agent-acp (0.101.0: a name and
// _meta.claudeCode; 0.23.1: toolName in the earlier update, or no more than a
// title) and of claude-code-acp 0.16.2 (the same). A supplied name is final, but
// what contradicts it counts. A title is the tool's name there, yet a shell
// command or a sub-agent's description can be the same text: their kind differs.
type Claude struct{ noTitles bool }

// NewClaude makes the dialect, reading titles where nothing else names the tool.
func NewClaude() Claude { return Claude{} }

// Agent is "claude-acp".
func (Claude) Agent() pipeline.Agent { return "claude-acp" }

// WithoutTitleFallback makes the dialect read no titles.
func (Claude) WithoutTitleFallback() Dialect { return Claude{noTitles: true} }

// Claim is the tool's name, if _meta.claudeCode does not contradict it.
func (c Claude) Claim(req *pipeline.Request) (claim pipeline.Claim, err error) {
	meta, code := &req.Call.Meta, req.Call.Meta.Get("claudeCode")
	toolName, server := code.Get("toolName"), code.Get("mcpServer")
	named := req.Call.Name.State() != pipeline.TextAbsent
	name, told := toolName.Text()
	switch {
	case meta.Given() && meta.Kind() != pipeline.MetaObject:
		return claim, Error{Reason: ReasonClaudeMeta}
	case !absentOr(code, pipeline.MetaObject): // a null is there, and wrong
		return claim, Error{Reason: ReasonClaudeCode}
	case !absentOr(toolName, pipeline.MetaString):
		return claim, Error{Reason: ReasonClaudeToolName}
	case !absentOr(server, pipeline.MetaObject):
		return claim, Error{Reason: ReasonClaudeServer}
	case told && named && !req.Call.Name.Is(name):
		return claim, Error{Reason: ReasonClaudeNamesDiffer}
	case named && !told:
		name, _ = req.Call.Name.Value()
		err = Error{Reason: ReasonClaudeNameStands, Absent: true}
	case !told:
		name, err = c.title(req)
	}
	// Also where nothing is claimed: a server beside another name is no silence.
	if server.Kind() != pipeline.MetaAbsent {
		if wrong := checkClaudeServer(&server, name); wrong != nil {
			return claim, wrong
		}
	}
	if err != nil {
		return claim, err
	}
	return pipeline.ClaimName(name), nil
}

// title is the title of a call that nothing else names, or why it is no name.
func (c Claude) title(req *pipeline.Request) (string, error) {
	title, _ := req.Call.Title.Value()
	_, _, reason := pipeline.ParseQualifiedName(title)
	switch {
	case req.Call.Title.State() == pipeline.TextAbsent:
		return "", Error{Reason: ReasonClaudeSilent, Absent: true}
	case c.noTitles:
		return "", Error{Reason: ReasonClaudeTitleOff, Absent: true}
	case req.Session.NameSeen:
		return "", Error{Reason: ReasonClaudeTitleNamed, Absent: true}
	case !req.Call.Kind.Is("other"):
		return "", Error{Reason: ReasonClaudeTitleKind, Absent: true}
	case reason != pipeline.ReasonQualified:
		return "", Error{Reason: ReasonClaudeTitleNoName, Absent: true}
	}
	return title, nil
}

// checkClaudeServer compares the server that serves the call with the one in its
// name. Source "dynamic" are the servers of session/new; one that a project's
// sub-agent brings along under the same name is "agent" (0.101.0).
func checkClaudeServer(server *pipeline.Meta, name string) error {
	by, _ := server.Get("name").Text()
	switch {
	case !servedBy(name, by):
		return Error{Reason: ReasonClaudeOtherServer}
	case !textIs(server.Get("source"), "dynamic"):
		return Error{Reason: ReasonClaudeOtherSource}
	}
	return nil
}

// servedBy says whether a name begins with this server. Whether it has exactly
// one reading is for the parser, which judges every claim.
func servedBy(name, server string) bool {
	const prefix, separator = "mcp__", "__"
	rest, qualified := strings.CutPrefix(name, prefix)
	rest, served := strings.CutPrefix(rest, server)
	return qualified && served && server != "" && strings.HasPrefix(rest, separator)
}
