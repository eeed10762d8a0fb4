package upstream

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		serveLines()
		return
	}
	goleak.VerifyTestMain(m)
}
