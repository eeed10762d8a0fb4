package dialects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
)

// Some agents are always asked about, however good their frames look. The
// accepted twin of each row is the same request from another agent.
func TestAlwaysAsking(t *testing.T) {
	rows := map[pipeline.Agent]pipeline.Reason{
		"cline-acp":     dialects.ReasonClineOwnServers,
		"copilot-acp":   dialects.ReasonCopilotNoServer,
		"gemini-acp":    dialects.ReasonGeminiDisplayTitle,
		"kilocode-acp":  dialects.ReasonKilocodeFlatTitle,
		"opencode-acp":  dialects.ReasonOpencodeFlatTitle,
		"pi-acp":        dialects.ReasonPiExtensionTitle,
		"zed-codex-acp": dialects.ReasonZedCodexRawInput,
	}
	claiming := map[pipeline.Agent]outcome{
		"claude-acp": said(listTasks),
		"codex-acp":  saidApart("kandev", "list_tasks"),
		"qwen-acp":   said(listTasks),
	}
	requests := map[pipeline.Agent]pipeline.Request{
		"claude-acp": titled(listTasksTitle, other, missing),
		"codex-acp":  codexCall(approval(yes), announced),
		"qwen-acp":   qwenCall(object("toolName", listTasks), missing),
	}
	assert.Len(t, dialects.All(), len(rows)+len(claiming), "every dialect is in one of the two tables")
	for _, d := range dialects.All() {
		for from, req := range requests {
			reason, asks := rows[d.Agent()]
			if asks {
				assert.Equal(t, silent(reason), claim(d, &req), "%s, frames of %s", d.Agent(), from)
			}
			if d.Agent() == from {
				assert.Equal(t, claiming[from], claim(d, &req), "%s", from)
			}
		}
	}
}
