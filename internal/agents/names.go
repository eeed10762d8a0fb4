// Package agents holds what a host knows of real agents beyond their dialects: the
// names of their programs, and what makes them ask. None of it identifies a tool.
package agents

import (
	"path"
	"strings"
)

// Agent ids that something here depends on.
const (
	Claude   = "claude-acp"
	Codex    = "codex-acp"
	Qwen     = "qwen-acp"
	OpenCode = "opencode-acp"
	Kilo     = "kilocode-acp"
)

// agentNames are the names of the programs and packages of known agents.
var agentNames = map[string]string{
	"claude-agent-acp":          Claude,
	"claude-code-acp":           Claude,
	"claude-acp":                Claude,
	"codex-acp":                 Codex,
	"codex":                     Codex,
	"gemini":                    "gemini-acp",
	"gemini-cli":                "gemini-acp",
	"qwen":                      Qwen,
	"qwen-code":                 Qwen,
	"opencode":                  OpenCode,
	"opencode-ai":               OpenCode,
	"kilo":                      Kilo,
	"kilocode":                  Kilo,
	"copilot":                   "copilot-acp",
	"cline":                     "cline-acp",
	"pi":                        "pi-acp",
	"pi-acp":                    "pi-acp",
	"@zed-industries/codex-acp": "zed-codex-acp",
}

// Guess finds the agent id of a command line such as "npx -y
// @zed-industries/claude-agent-acp@latest". A guess chooses explanations only:
// any program can have any name.
func Guess(command []string) string {
	for _, word := range command {
		if strings.HasPrefix(word, "-") {
			continue
		}
		if id := agentNames[packageName(word)]; id != "" {
			return id
		}
		if id := agentNames[ProgramName(word)]; id != "" {
			return id
		}
	}
	return ""
}

// packageName is a package without its version.
func packageName(word string) string {
	if at := strings.LastIndexByte(word, '@'); at > 0 {
		word = word[:at]
	}
	return word
}

// ProgramName is the last part of a path or package, without version and ending.
func ProgramName(word string) string {
	name := path.Base(strings.ReplaceAll(packageName(word), `\`, "/"))
	for _, ending := range []string{".exe", ".cmd", ".ps1", ".js", ".mjs"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}
