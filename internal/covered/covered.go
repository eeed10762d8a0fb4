// Package covered is for packages whose every function has to be run by their tests.
package covered

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kandev/assent/internal/need"
)

// inside is set in the environment of the tests that are run for their coverage.
const inside = "ASSENT_COVERED"

// EveryFunction fails for each function of the test's package that no test runs. It
// runs the others again, with coverage and as -short has them.
func EveryFunction(t *testing.T) {
	t.Helper()
	if os.Getenv(inside) != "" || testing.CoverMode() != "" || testing.Short() {
		t.Skip("runs all other tests once more")
	}
	for _, line := range uncovered(t, ".") {
		t.Errorf("no test runs it: %s", line)
	}
}

// uncovered are the functions of the package in a folder that its tests do not run, one
// line for each.
func uncovered(t *testing.T, dir string) (lines []string) {
	t.Helper()
	_, err := exec.LookPath("go")
	need.Of(t, "the go command", err)
	profile := filepath.Join(t.TempDir(), "cover.out")
	run := exec.CommandContext(t.Context(), "go", "test", "-short", "-count=1", "-coverprofile", profile, ".")
	run.Dir, run.Env = dir, append(os.Environ(), inside+"=1")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("the tests failed when they were run for their coverage: %v\n%s", err, out)
	}
	list := exec.CommandContext(t.Context(), "go", "tool", "cover", "-func", profile)
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go tool cover: %v", err)
	}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		if strings.HasSuffix(s.Text(), "\t0.0%") {
			lines = append(lines, s.Text())
		}
	}
	return lines
}
