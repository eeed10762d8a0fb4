package main

import (
	"fmt"
	"os"

	"github.com/kandev/assent/internal/console"
	"github.com/kandev/assent/internal/demoagent"
	"github.com/kandev/assent/internal/host/process"
)

// demoAgentCommand is the demo agent: this program started again.
type demoAgentCommand struct{}

// Run is the command.
func (*demoAgentCommand) Run(*app) error {
	if code := demoagent.Main(); code != console.ExitGood {
		os.Exit(code) // it has said why
	}
	return nil
}

// demoAgentWord is the hidden command's name.
const demoAgentWord = "demo-agent"

func demoCommand() (process.Command, error) {
	self, err := os.Executable()
	if err != nil {
		return process.Command{}, fmt.Errorf("this program cannot find itself to be the demo agent: %w", err)
	}
	return process.Command{Path: self, Args: []string{demoAgentWord}}, nil
}
