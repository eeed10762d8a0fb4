package main

import "errors"

// runCommand runs one agent in the terminal.
type runCommand struct {
	Command []string `arg:"" optional:"" passthrough:"partial" help:"The agent and its arguments."`
}

// Run is the command.
func (c *runCommand) Run(*app) error { return errors.New("not built yet") }
