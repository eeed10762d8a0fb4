//go:build unix

package audit_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
)

func TestL52_ModeAndNoPreview(t *testing.T) {
	old := syscall.Umask(0o022)
	defer syscall.Umask(old)
	text, path := auditOf(t, offerLine, pipeline.AllowOnce)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, info.Mode().Perm())
	for _, part := range []string{"rawInput", "token", "arguments", "curl", secret} {
		assert.NotContains(t, text, part)
	}
}
