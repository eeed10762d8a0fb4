package proxy

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/need"
)

// Every function of this package is run by its tests. The test runs the others
// again, with coverage, fewer kills and without the largest inputs.
func TestEveryFunctionIsCovered(t *testing.T) {
	const inside = "ASSENT_COVERED"
	if os.Getenv(inside) != "" || testing.CoverMode() != "" || testing.Short() {
		t.Skip("runs all other tests once more")
	}
	goTool, err := exec.LookPath("go")
	need.Of(t, "the go command", err)
	profile := filepath.Join(t.TempDir(), "cover.out")
	run := exec.CommandContext(t.Context(), goTool, "test", "-short", "-count=1", "-coverprofile", profile, ".")
	run.Env = append(os.Environ(), inside+"=1")
	out, err := run.CombinedOutput()
	require.NoError(t, err, string(out))
	out, err = exec.CommandContext(t.Context(), goTool, "tool", "cover", "-func", profile).Output()
	require.NoError(t, err)
	var uncovered []string
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		if strings.HasSuffix(s.Text(), "\t0.0%") {
			uncovered = append(uncovered, s.Text())
		}
	}
	assert.Empty(t, uncovered)
}
