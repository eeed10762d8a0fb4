package console

import (
	"path"
	"strings"
)

// Agent ids that this command treats specially.
const (
	codexAgentID = "codex-acp"
	demoAgentID  = "claude-acp" // the demo agent asks in Claude's way
)

// agentNames are the names of the programs and packages of known agents.
var agentNames = map[string]string{
	"claude-agent-acp":          "claude-acp",
	"claude-code-acp":           "claude-acp",
	"claude-acp":                "claude-acp",
	"codex-acp":                 codexAgentID,
	"codex":                     codexAgentID,
	"gemini":                    "gemini-acp",
	"gemini-cli":                "gemini-acp",
	"qwen":                      "qwen-acp",
	"qwen-code":                 "qwen-acp",
	"opencode":                  "opencode-acp",
	"opencode-ai":               "opencode-acp",
	"kilo":                      "kilocode-acp",
	"kilocode":                  "kilocode-acp",
	"copilot":                   "copilot-acp",
	"cline":                     "cline-acp",
	"pi":                        "pi-acp",
	"pi-acp":                    "pi-acp",
	"@zed-industries/codex-acp": "zed-codex-acp",
}

// guessAgent finds the agent id of a command line such as "npx -y
// @zed-industries/claude-agent-acp@latest". A guess chooses explanations only:
// any program can have any name.
func guessAgent(command []string) string {
	for _, word := range command {
		if strings.HasPrefix(word, "-") {
			continue
		}
		if id := agentNames[packageName(word)]; id != "" {
			return id
		}
		if id := agentNames[programName(word)]; id != "" {
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

// programName is the last part of a path or package, without version and ending.
func programName(word string) string {
	name := path.Base(strings.ReplaceAll(packageName(word), `\`, "/"))
	for _, ending := range []string{".exe", ".cmd", ".ps1", ".js", ".mjs"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}
