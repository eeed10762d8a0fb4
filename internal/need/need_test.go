package need

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// insideVariable makes TestInside run: it says whether the need is met.
const insideVariable = "ASSENT_TEST_NEED"

func TestInside(t *testing.T) {
	switch os.Getenv(insideVariable) {
	case "":
		return // it is for the test below
	case "met":
		Of(t, "a thing", nil)
	default:
		Of(t, "a thing", errors.New("it is not here"))
	}
	t.Log("it has run")
}

func TestOf(t *testing.T) {
	const missing = "this test needs a thing: it is not here"
	inCI := "this test needs a thing, which has to be there in CI: it is not here"
	failed := "--- FAIL"
	if runtime.GOOS != "linux" {
		inCI, failed = missing, "--- SKIP"
	}
	for name, test := range map[string]struct {
		env  []string
		want []string
	}{
		"met":           {[]string{insideVariable + "=met", "CI="}, []string{"--- PASS", "it has run"}},
		"met in CI":     {[]string{insideVariable + "=met", "CI=1"}, []string{"--- PASS", "it has run"}},
		"missing":       {[]string{insideVariable + "=missing", "CI="}, []string{"--- SKIP", missing}},
		"missing in CI": {[]string{insideVariable + "=missing", "CI=true"}, []string{failed, inCI}},
	} {
		self, err := os.Executable()
		require.NoError(t, err)
		c := exec.Command(self, "-test.run=^TestInside$", "-test.v")
		c.Env = append(os.Environ(), test.env...)
		out, err := c.CombinedOutput()
		assert.Equal(t, slices.Contains(test.want, "--- FAIL"), err != nil, name)
		for _, text := range test.want {
			assert.Contains(t, string(out), text, name)
		}
		assert.Equal(t, strings.Contains(test.want[0], "PASS"), strings.Contains(string(out), "it has run"), name)
	}
}
