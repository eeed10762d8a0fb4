package console

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/kandev/assent/internal/demoagent"
)

// demoVariable makes the test binary the demo agent.
const demoVariable = "ASSENT_TEST_DEMO_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(demoVariable) != "" {
		os.Exit(demoagent.Main())
	}
	goleak.VerifyTestMain(m)
}
