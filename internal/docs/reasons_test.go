package docs_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/docs"
)

var update = flag.Bool("update", false, "write the pages anew")

const root = "../.."

func TestReasonsPage(t *testing.T) {
	page, err := docs.Reasons(root)
	require.NoError(t, err)
	path := filepath.Join(root, "docs", "reasons.md")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
	}
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, page, string(written), "mend it with: go test ./internal/docs -update")
}

// Every reason says in words what it means, for the person who looks it up.
func TestEveryReasonHasAMeaning(t *testing.T) {
	page, err := docs.Reasons(root)
	require.NoError(t, err)
	rows := 0
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "| `") {
			rows++
			assert.NotContains(t, line, "|  |", "a constant without a comment")
		}
	}
	assert.Greater(t, rows, 50)
}

// Whoever reads an audit file finds each of its reasons and events.
func TestThePageHasWhatAuditRecordsHold(t *testing.T) {
	page, err := docs.Reasons(root)
	require.NoError(t, err)
	for _, reason := range []string{"person_selected", "person_cancelled", "session_cancelled", "expired", "answer_not_written", "queue_full", "line_cut"} {
		assert.Equal(t, 1, strings.Count(page, "\n| `"+reason+"` | "), reason)
	}
	for _, event := range []string{"decision", "answer", "net", "unasked", "stop", "interrupt", "question", "gap", "other"} {
		assert.Equal(t, 1, strings.Count(page, "\n- `"+event+"`: "), event)
		assert.NotContains(t, page, "| `"+event+"` |", "no event is a reason")
	}
}
