package demoagent

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

// modeVariable makes the test binary act as something else.
const modeVariable = "DEMOAGENT_TEST_MODE"

// raceOptions let a process built with the race detector end at once.
const raceOptions = "GORACE"

func TestMain(m *testing.M) {
	switch os.Getenv(modeVariable) {
	case "agent":
		os.Exit(Main())
	case "stdio-server":
		s := newMCPServer("stdio", func(toolRun) {})
		_ = s.Run(context.Background(), &mcp.StdioTransport{})
		os.Exit(0)
	case "deaf-server": // never says a word, and has to be killed
		signal.Ignore(syscall.SIGTERM)
		never := make(chan os.Signal, 1)
		signal.Notify(never, syscall.SIGHUP)
		<-never
	}
	goleak.VerifyTestMain(m)
}
