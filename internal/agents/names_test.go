package agents

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGuesses(t *testing.T) {
	for line, want := range map[string]string{
		"claude-agent-acp": "claude-acp",
		"npx -y @zed-industries/claude-code-acp@latest": "claude-acp",
		"npx @zed-industries/codex-acp@0.16.0":          "zed-codex-acp",
		"/opt/bin/codex-acp":                            "codex-acp",
		`C:\tools\gemini.cmd --acp`:                     "gemini-acp",
		"qwen --acp":                                    "qwen-acp",
		"node dist/index.js":                            "",
		"my-agent":                                      "",
	} {
		assert.Equal(t, want, Guess(strings.Fields(line)), line)
	}
}
