package gateway

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// check is one of the two that keep raw clients from internal actions. It is taken
// out of the program by changing a line, which is in its file exactly once.
type check struct{ file, line, without string }

var (
	gatewayCheck    = check{"client.go", "case dispatch.Internal(r.name):", "case false:"}
	dispatcherCheck = check{"../dispatch/dispatch.go", "case o.kind == RawClient && internal:", "case false:"}
)

// The forgery test passes without either check, and fails without both: so each of
// them works, and the test sees it when none does.
func TestForgeryNeedsEitherCheck(t *testing.T) {
	cases := []struct {
		name    string
		without []check
		passes  bool
	}{
		{"with both", nil, true},
		{"without that of the gateway", []check{gatewayCheck}, true},
		{"without that of the dispatcher", []check{dispatcherCheck}, true},
		{"without both", []check{gatewayCheck, dispatcherCheck}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out, err := exec.Command("go", "test", "-count=1", "-vet=off", "-run=^TestForgery$", "-v", "-overlay="+overlay(t, c.without), ".").CombinedOutput()
			if c.passes {
				assert.NoError(t, err, "%s", out)
				assert.Contains(t, string(out), "--- PASS: TestForgery")
				return
			}
			assert.Error(t, err)
			assert.Contains(t, string(out), "a forged payload reached a handler", "it does not fail as it should")
		})
	}
}

// overlay writes the changed files and the list of them that the go command takes.
func overlay(t *testing.T, without []check) string {
	t.Helper()
	dir, replace := t.TempDir(), map[string]string{}
	for _, c := range without {
		source, err := os.ReadFile(c.file)
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(source), c.line), "%s: %q is not there exactly once: was the check moved?", c.file, c.line)
		changed := filepath.Join(dir, filepath.Base(c.file))
		require.NoError(t, os.WriteFile(changed, []byte(strings.Replace(string(source), c.line, c.without, 1)), 0o600))
		original, err := filepath.Abs(c.file)
		require.NoError(t, err)
		replace[original] = changed
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	path := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(path, list, 0o600))
	return path
}
