package covered

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestUncovered(t *testing.T) {
	for calls, want := range map[string]int{"ran()": 1, "ran(); ranNot()": 0} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"go.mod":    "module example.com/a\n",
			"a.go":      "package a\n\nfunc ran() int { return 1 }\n\nfunc ranNot() int { return 2 }\n",
			"a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestIt(*testing.T) { " + calls + " }\n",
		} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		lines := uncovered(t, dir)
		require.Len(t, lines, want, calls)
		if want > 0 {
			assert.Contains(t, lines[0], "ranNot")
		}
	}
}
