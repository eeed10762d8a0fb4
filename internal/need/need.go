// Package need is for tests that need something of the machine: a terminal, a
// device, an address. A test that is skipped wherever it runs says nothing.
package need

import (
	"os"
	"runtime"
	"testing"
)

// Of ends the test when err says that the machine does not have what it needs. In CI
// on Linux, where it has to be there, that is a failure; elsewhere the test is
// skipped. CI is where the environment variable CI is set.
func Of(t testing.TB, what string, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI") != "" && runtime.GOOS == "linux":
		t.Fatalf("this test needs %s, which has to be there in CI: %v", what, err)
	default:
		t.Skipf("this test needs %s: %v", what, err)
	}
}
