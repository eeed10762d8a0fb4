package config

import "fmt"

// WarningCode names a kind of [Warning].
type WarningCode string

const (
	// WarnReplaced: an entry of the user's had the reserved name, or would have
	// it for agents that replace special characters, and was replaced.
	WarnReplaced WarningCode = "user_server_replaced"
	// WarnSameFlatName: two servers of the user's have one name for agents that
	// replace special characters.
	WarnSameFlatName WarningCode = "same_name_after_replacing"
	// WarnTransport: the agent (or Codex) does not take this server's transport,
	// so the server is left out.
	WarnTransport WarningCode = "transport_not_supported"
	// WarnNoInjection: the agent takes neither http nor sse, so the injected
	// server is left out and none of its tools can be approved automatically.
	WarnNoInjection WarningCode = "injected_server_left_out"
	// WarnCodexName: the name cannot be given on Codex's command line.
	WarnCodexName WarningCode = "name_not_for_codex"
	// WarnCodexSecret: the server's environment or URL could be given to Codex
	// on its command line alone, where other processes can read it.
	WarnCodexSecret WarningCode = "secret_not_for_command_line"
)

// Warning is one thing that a person should know. It is comparable and holds no
// secret.
type Warning struct {
	Code WarningCode
	// Server is the name of the MCP server concerned, Other that of a second one.
	Server, Other string
}

var warningTexts = map[WarningCode]string{
	WarnReplaced:     "was replaced by the host's own server of that name: rename yours to use both",
	WarnSameFlatName: "has the same name as another server for agents that replace special characters: rename one of them",
	WarnTransport:    "was left out: the agent does not take its transport",
	WarnNoInjection:  "was left out: the agent takes neither http nor sse; its tools are not available",
	WarnCodexName:    "was left out: Codex takes server names of A-Z a-z 0-9 _ - only: rename it",
	WarnCodexSecret:  "was left out: its environment or URL may hold a secret and would show on the command line: define it in Codex's own configuration",
}

// String says it in words for people.
func (w Warning) String() string {
	text := fmt.Sprintf("MCP server %q %s", w.Server, warningTexts[w.Code])
	if w.Other != "" {
		text += fmt.Sprintf(" (the other one: %q)", w.Other)
	}
	return text
}
