package main

import (
	"github.com/kandev/assent/internal/console"
)

// checkCommand runs case files.
type checkCommand struct {
	Files []string `arg:"" name:"file" help:"Case files, one JSON case per line."`
	JSON  bool     `help:"One JSON object per expectation."`
}

// Help is shown by --help.
func (*checkCommand) Help() string {
	return "Each case gives lines of an agent and the verdicts that are right for them.\n\nExample: assent check cases.jsonl"
}

// Run is the command.
func (c *checkCommand) Run(a *app) error {
	runner, err := newRunner()
	if err != nil {
		return err
	}
	return console.Check(a.Streams, runner, c.Files, c.JSON)
}
