package main

import (
	"fmt"

	"github.com/kandev/assent/internal/console"
	"github.com/kandev/assent/internal/replay"
)

// replayCommand sends recordings through the pipeline.
type replayCommand struct {
	Files       []string `arg:"" name:"file" help:"Recordings, JSON lines as --record writes them."`
	JSON        bool     `help:"One JSON object per permission request."`
	Explain     bool     `help:"Show what each stage said and why."`
	Agent       string   `help:"Agent id, such as claude-acp. It wins over the recording's header." placeholder:"ID"`
	Port        int      `help:"Port of the injected MCP server. It wins over the recording's header." placeholder:"N"`
	AutoApprove bool     `help:"Decide as with blanket approval."`
}

// Help is shown by --help.
func (*replayCommand) Help() string {
	return `A recording does not hold what a live MCP server saw: the witness and the tripwire
are left out, so that a live run may have asked where this selects.

Example: assent replay --explain session.jsonl`
}

// Run is the command.
func (c *replayCommand) Run(a *app) error {
	if c.Port < 0 || c.Port > 65535 {
		return console.Usage(fmt.Sprintf("--port %d is no port", c.Port), "use 1 to 65535")
	}
	runner, err := newRunner()
	if err != nil {
		return err
	}
	over := replay.Instance{Agent: c.Agent, Port: c.Port, AutoApprove: c.AutoApprove}
	return console.Replay(a.Streams, runner, over, c.Files, console.Form{JSON: c.JSON, Explain: c.Explain})
}
