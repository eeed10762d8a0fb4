package demoagent

import (
	"context"
	"os"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

// modeVariable makes the test binary act as something else.
const modeVariable = "DEMOAGENT_TEST_MODE"

func TestMain(m *testing.M) {
	switch os.Getenv(modeVariable) {
	case "agent":
		os.Exit(Main())
	case "stdio-server":
		s := newMCPServer("stdio", func(toolRun) {})
		_ = s.Run(context.Background(), &mcp.StdioTransport{})
		os.Exit(0)
	case "deaf-server": // takes the pipe and never says a word
		select {}
	}
	goleak.VerifyTestMain(m)
}
