package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/docs"
)

// The gateway's page explains every reason in the words of docs/reasons.md.
func TestReasonsOfThePage(t *testing.T) {
	page, err := docs.Reasons(root)
	require.NoError(t, err)
	script, err := docs.Script(page)
	require.NoError(t, err)
	path := filepath.Join(root, "internal", "host", "gateway", "page", "reasons.js")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(script), 0o644))
	}
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, script, string(written), "mend it with: go test ./internal/docs -update")
	assert.Contains(t, script, "\n  not_injected: \"it is no tool of the injected server\",\n")
	assert.Greater(t, strings.Count(script, "\n"), 50)
}

// The terminal explains every reason in the same words.
func TestReasonsOfTheTerminal(t *testing.T) {
	page, err := docs.Reasons(root)
	require.NoError(t, err)
	words, err := docs.Words(page)
	require.NoError(t, err)
	path := filepath.Join(root, "internal", "console", "meanings.go")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(words), 0o644))
	}
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, words, string(written), "mend it with: go test ./internal/docs -update")
	assert.Regexp(t, `"not_injected": +"it is no tool of the injected server",`, words)
}
