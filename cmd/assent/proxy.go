package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/kandev/assent/internal/agents"
	"github.com/kandev/assent/internal/console"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/child"
	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/proxy"
	"github.com/kandev/assent/internal/record"
)

// proxyCommand stands between an editor and its agent.
type proxyCommand struct {
	Agent        string   `help:"Agent id, such as claude-acp. Otherwise it is guessed from the command's name, which identifies no tools." placeholder:"ID"`
	Inject       []string `help:"Give the agent this MCP server of yours, and approve its tools: NAME=URL or NAME=stdio:COMMAND ARGS; can be given several times." sep:"none" placeholder:"NAME=URL"`
	InjectHeader []string `help:"Send this header to an injected server, NAME=KEY:VALUE; $${VARIABLE} in the value is taken from the environment. The agent does not get it." sep:"none" placeholder:"NAME=K:V"`
	AutoApprove  bool     `help:"Blanket approval: answer every request with the first allowing option."`
	Record       string   `help:"Write the traffic to a new file that replay reads." placeholder:"FILE" type:"path"`
	Audit        string   `help:"Append a record of each decision and answer to a file that assent audit reads." placeholder:"FILE" type:"path"`
	Explain      bool     `help:"Say on stderr, in one line per request, which stage decided and why."`

	Command []string `arg:"" passthrough:"partial" help:"The agent and its arguments, after --."`
}

// Help is shown by --help.
func (*proxyCommand) Help() string {
	return `Put it before the agent's own command in your editor's settings:
  assent proxy --agent claude-acp --inject kandev=http://localhost:8000/mcp -- claude-agent-acp

Requests for tools of the injected servers are approved, everything else is asked
in the editor as before. Without --inject nothing is approved.

More examples:
  assent proxy --agent codex-acp --inject 'tasks=stdio:my-mcp-server --project .' -- codex-acp
  assent proxy --agent claude-acp --inject kandev=https://mcp.example.com/mcp \
    --inject-header 'kandev=Authorization:Bearer ${KANDEV_TOKEN}' -- claude-agent-acp
  assent proxy --explain --audit "$HOME/assent-audit.jsonl" -- gemini --acp`
}

// Run is the command.
func (c *proxyCommand) Run(a *app) error {
	if len(c.Command) > 0 && c.Command[0] == "--" {
		c.Command = c.Command[1:]
	}
	o, err := c.options(a)
	if err != nil {
		return err
	}
	var recording *record.Writer
	o.Recorder = c.recorder(o, &recording)
	if o.Audit, err = c.openAudit(a); err != nil {
		return err
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, proxy.Signals()...)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // that the client has gone is an error of a write
	o.Signals = signals
	code, err := proxy.Run(context.Background(), o)
	if recording != nil {
		if failure := recording.Close(); failure != nil && err == nil {
			err = console.Failed(fmt.Errorf("--record: the recording is not complete: %w", failure), "")
		}
	}
	if failure := o.Audit.Close(context.Background()); failure != nil && err == nil {
		err = console.Failed(fmt.Errorf("--audit: the file is not complete: %w", failure), "")
	}
	if err == nil && code != console.ExitGood { // the agent's own, which has said why
		a.Stderr.Close()
		os.Exit(code)
	}
	return console.Explain(err)
}

// options checks the command line and says what to relay.
func (c *proxyCommand) options(a *app) (proxy.Options, error) {
	if len(c.Command) == 0 {
		return proxy.Options{}, console.Usage("no agent was given", "as in: assent proxy --agent claude-acp -- claude-agent-acp")
	}
	if c.Record != "" && c.Record == c.Audit {
		return proxy.Options{}, console.Usage("--record and --audit name one file", "give each a file of its own")
	}
	if _, err := (config.Config{Agent: c.Agent}).NewInstanceConfig(config.InstanceOverrides{}); err != nil {
		return proxy.Options{}, console.Usage(strings.TrimPrefix(err.Error(), "config: "), "")
	}
	inject, secrets, err := proxy.ParseInjections(c.Inject, c.InjectHeader, os.LookupEnv)
	if err != nil {
		return proxy.Options{}, console.Usage(err.Error(), "")
	}
	pipelines, set, err := composeHost()
	if err != nil {
		return proxy.Options{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return proxy.Options{}, fmt.Errorf("this program cannot find itself to be the watcher: %w", err)
	}
	o := proxy.Options{
		Command: child.Command{Path: c.Command[0], Args: c.Command[1:], Env: proxy.Without(os.Environ(), secrets)},
		Agent:   c.Agent, AutoApprove: c.AutoApprove, Inject: inject, Pipelines: pipelines, Dialects: set,
		Client: a.Stdin, ToClient: a.Stdout, AgentStderr: a.Stderr.File(), Stderr: a.Stderr, Logger: a.Logger,
		Explain: c.Explain, Watcher: []string{self, watcherWord}, Version: hostVersion(),
	}
	if o.Agent == "" {
		o.Agent, o.Guessed = agents.Guess(c.Command), true
		c.sayGuess(a, o.Agent)
	}
	a.TellUnknown("proxy", set, c.Agent)
	return o, nil
}

// sayGuess says what a guess is worth.
func (c *proxyCommand) sayGuess(a *app, agent string) {
	text := "agent id " + agent + " is guessed from the command's name, which identifies no tools (--agent " + agent + " configures it)"
	if agent == "" {
		text = "the agent is not known by its name: its tools are asked about unless its requests name them (--agent ID configures it)"
	}
	_, _ = fmt.Fprintln(a.Stderr, "assent: proxy: "+text)
}

// recorder makes the file for --record.
func (c *proxyCommand) recorder(o proxy.Options, keep **record.Writer) func([]record.Server) (proxy.Recorder, error) {
	if c.Record == "" {
		return nil
	}
	return func(injected []record.Server) (proxy.Recorder, error) {
		h := record.Header{Agent: o.Agent}
		if len(injected) > 0 {
			h.Name, h.Port, h.Others = injected[0].Name, injected[0].Port, injected[1:]
		}
		if o.Guessed {
			h.Agent, h.Guessed = "", o.Agent
		}
		w, err := record.Create(c.Record, h)
		if err != nil {
			return nil, console.NotRecorded(err)
		}
		*keep = w
		return w, nil
	}
}

func (c *proxyCommand) openAudit(a *app) (*audit.Log, error) {
	if c.Audit == "" {
		return nil, nil
	}
	log, err := audit.Open(c.Audit, audit.Options{Logger: a.Logger})
	if err != nil {
		return nil, console.Usage("--audit: "+err.Error(), "give a file that can be written")
	}
	return log, nil
}

// watcherWord is the hidden command's name.
const watcherWord = "watch-agent"

// watch is the hidden command. It takes no part in the command line: it has to be
// there at once, and needs nothing.
func watch(args []string) bool {
	if len(args) != 1 || args[0] != watcherWord {
		return false
	}
	proxy.Watch(proxy.WatchPipe())
	return true
}
