package main

import (
	"github.com/kandev/assent/internal/console"
)

// runCommand runs one agent in the terminal.
type runCommand struct {
	Agent       string   `help:"Agent id, such as claude-acp. Otherwise it is guessed from the command's name, which identifies no tools." placeholder:"ID"`
	Prompt      []string `help:"What to tell the agent; can be given several times. Otherwise prompts are typed, one per line." sep:"none" placeholder:"TEXT"`
	OnPending   string   `help:"What answers requests that nothing decides: allow, reject or cancel. Without a terminal it is cancel, in a terminal you are asked." placeholder:"ANSWER"`
	AutoApprove bool     `help:"Blanket approval: answer every request with the first allowing option."`
	MCP         []string `name:"mcp" help:"An MCP server of yours, NAME=URL; can be given several times. Its tools are always asked about." sep:"none" placeholder:"NAME=URL"`
	Port        int      `help:"Port of the injected MCP server. Otherwise any free one." placeholder:"N"`
	Record      string   `help:"Write the traffic to a new file that replay reads." placeholder:"FILE" type:"path"`
	Audit       string   `help:"Append a record of each decision and answer to a file that assent audit reads." placeholder:"FILE" type:"path"`
	Metrics     string   `help:"Serve metrics for Prometheus at http://ADDR/metrics: a loopback address such as 127.0.0.1:9464, or 127.0.0.1:0 for any free port." placeholder:"ADDR"`
	Cwd         string   `help:"Directory that the agent works in. Otherwise the current one." placeholder:"DIR"`
	Demo        bool     `help:"Run the bundled demo agent, with a second MCP server beside the injected one."`
	Passthrough bool     `help:"Hand this terminal to Codex, with the injected MCP server in its configuration."`

	Command []string `arg:"" optional:"" passthrough:"partial" help:"The agent and its arguments, after --."`
}

// Help is shown by --help.
func (*runCommand) Help() string {
	return `Examples:
  assent run --demo
  assent run --agent claude-acp -- claude-agent-acp
  assent run --agent codex-acp --prompt "list the tasks" --on-pending reject -- codex-acp
  assent run --passthrough -- codex

While the agent works, questions are answered with their number and the number of
an option. Ctrl-C cancels the turn, twice stops the agent.`
}

// Run is the command.
func (c *runCommand) Run(a *app) error {
	if len(c.Command) > 0 && c.Command[0] == "--" {
		c.Command = c.Command[1:]
	}
	pipelines, set, err := composeHost()
	if err != nil {
		return err
	}
	demo, err := demoCommand()
	if err != nil {
		return err
	}
	return console.Run(console.Options{
		Streams: a.Streams, Flags: console.Flags(*c),
		Pipelines: pipelines, Dialects: set, Version: hostVersion(), DemoAgent: demo,
	})
}
