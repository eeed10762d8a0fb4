package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/record"
)

// runCommand runs one agent in the terminal.
type runCommand struct {
	Agent       string   `help:"Agent id, such as claude-acp. Otherwise it is guessed from the command's name, which identifies no tools." placeholder:"ID"`
	Prompt      []string `help:"What to tell the agent; can be given several times. Otherwise prompts are typed, one per line." sep:"none" placeholder:"TEXT"`
	OnPending   string   `help:"What answers requests that nothing decides: allow, reject or cancel. Without a terminal it is cancel, in a terminal you are asked." enum:"allow,reject,cancel," default:"" placeholder:"ANSWER"`
	AutoApprove bool     `help:"Blanket approval: answer every request with the first allowing option."`
	MCP         []string `name:"mcp" help:"An MCP server of yours, NAME=URL; can be given several times. Its tools are always asked about." sep:"none" placeholder:"NAME=URL"`
	Port        int      `help:"Port of the injected MCP server. Otherwise any free one." placeholder:"N"`
	Record      string   `help:"Write the traffic to a new file that replay reads." placeholder:"FILE" type:"path"`
	Audit       string   `help:"Append a record of each decision and answer to a file that assent audit reads." placeholder:"FILE" type:"path"`
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
	launch, err := c.launch(a)
	if err != nil {
		return err
	}
	if c.Passthrough {
		return c.passthrough(a, launch)
	}
	if !c.Demo {
		return c.host(a, launch, nil)
	}
	if c.wantsShadow() {
		return c.shadow(a, launch.Command)
	}
	other, err := startOther()
	if err != nil {
		return err
	}
	defer other.close()
	launch.Config.MCPServers = append(launch.Config.MCPServers, other.entry())
	return c.host(a, launch, demoPrompts(c.Prompt, isTerminal(a)))
}

// host runs the agent under the process manager.
func (c *runCommand) host(a *app, launch process.Launch, prompts []string) error {
	if prompts == nil {
		prompts = c.Prompt
	}
	h, err := newHost(a, c, launch, prompts)
	if err != nil {
		return err
	}
	return h.run()
}

// isTerminal says whether there is a person at both ends.
func isTerminal(a *app) bool {
	return term.IsTerminal(int(a.stdin.Fd())) && term.IsTerminal(int(a.stdout.Fd()))
}

// launch checks the command line and says what to start.
func (c *runCommand) launch(a *app) (process.Launch, error) {
	if err := c.checkFlags(); err != nil {
		return process.Launch{}, err
	}
	servers, err := userServers(c.MCP)
	if err != nil {
		return process.Launch{}, err
	}
	dir, err := directory(c.Cwd)
	if err != nil {
		return process.Launch{}, err
	}
	l := process.Launch{
		Config:   config.Config{AutoApprovePermissions: c.AutoApprove, MCPServers: servers},
		Endpoint: &endpoint.Options{Port: c.Port, Logger: a.logger, Version: hostVersion()},
	}
	if c.Demo {
		l.Command, err = demoCommand()
	} else {
		l.Command = process.Command{Path: c.Command[0], Args: c.Command[1:]}
	}
	l.Command.Dir = dir
	if err != nil {
		return l, err
	}
	c.chooseAgent(a, &l)
	if _, err := l.Config.NewInstanceConfig(l.Overrides); err != nil { // before anything is started
		return l, usage(strings.TrimPrefix(err.Error(), "config: "), "")
	}
	return l, nil
}

func (c *runCommand) checkFlags() error {
	switch {
	case c.Demo && len(c.Command) > 0:
		return usage("--demo brings its own agent", "leave the command or --demo out")
	case !c.Demo && len(c.Command) == 0:
		return usage("no agent was given", "as in: assent run --agent claude-acp -- claude-agent-acp; or try: assent run --demo")
	case c.Port < 0 || c.Port > 65535:
		return usage(fmt.Sprintf("--port %d is no port", c.Port), "use 1 to 65535")
	case c.Passthrough && (c.Demo || len(c.Prompt) > 0 || c.Record != "" || c.Audit != "" || c.OnPending != "" || c.AutoApprove):
		return usage("--passthrough hands the terminal to the agent: nothing else can be said, asked or recorded", "leave --demo, --prompt, --record, --audit, --on-pending and --auto-approve out")
	}
	return nil
}

// chooseAgent takes the agent id from the flag, or guesses it.
func (c *runCommand) chooseAgent(a *app, l *process.Launch) {
	switch {
	case c.Agent != "":
		l.Config.Agent = c.Agent
	case c.Demo:
		l.Config.Agent = demoAgentID
	default:
		guess := guessAgent(c.Command)
		if guess == "" && !c.Passthrough {
			a.say("the agent is not known by its name: its tools are asked about unless its requests name them (--agent ID configures it)")
		}
		if guess == "" {
			return
		}
		l.Overrides.Agent, l.Overrides.AgentGuessed = guess, true
		if c.Passthrough { // nothing is decided there
			return
		}
		a.say(fmt.Sprintf("agent id %s is guessed from the command's name, which identifies no tools (--agent %s configures it)", guess, guess))
	}
}

// say tells the person something on stderr, in one line.
func (a *app) say(text string) {
	writeLine(a.stderr, "assent: run: "+display.Line(text, 2000))
}

// userServers reads --mcp NAME=URL.
func userServers(flags []string) (config.Servers, error) {
	var servers config.Servers
	for _, f := range flags {
		name, url, ok := strings.Cut(f, "=")
		if !ok || name == "" || url == "" {
			return nil, usage("--mcp needs a name and a URL", "as in --mcp docs=http://localhost:8000/mcp")
		}
		kind := config.TypeHTTP
		if strings.HasSuffix(url, "/sse") {
			kind = config.TypeSSE
		}
		servers = append(servers, config.MCPServer{Name: name, Type: kind, URL: url})
	}
	return servers, nil
}

// directory is where the agent works, as an absolute path.
func directory(cwd string) (string, error) {
	dir, err := filepath.Abs(cwd)
	if err != nil {
		return "", usage("--cwd: "+err.Error(), "")
	}
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return "", usage(fmt.Sprintf("--cwd %s is no directory", dir), "give one that exists")
	}
	return dir, nil
}

// passthrough hands the terminal to Codex.
func (c *runCommand) passthrough(a *app, l process.Launch) error {
	if id := l.Config.Agent + l.Overrides.Agent; id != codexAgentID && programName(c.Command[0]) != "codex" {
		return usage("--passthrough knows Codex only", "as in: assent run --passthrough -- codex")
	}
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGQUIT) // they are the agent's, which has the keyboard
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := process.Passthrough(ctx, l, process.Terminal{
		Stdin: a.stdin, Stdout: a.stdout, Stderr: os.Stderr,
		Warn: func(w config.Warning) { a.say("warning: " + w.String()) },
	})
	if ctx.Err() != nil {
		return errInterrupted
	}
	return explain(err)
}

// recorder makes the file for --record.
func (c *runCommand) recorder(keep func(*record.Writer)) func(config.InstanceConfig) (process.Recorder, error) {
	if c.Record == "" {
		return nil
	}
	return func(ic config.InstanceConfig) (process.Recorder, error) {
		h := record.Header{Agent: ic.Agent, Port: ic.Port}
		if ic.AgentGuessed {
			h.Agent, h.Guessed = "", ic.Agent
		}
		w, err := record.Create(c.Record, h)
		if err != nil {
			return nil, usage("--record: "+err.Error(), "give a file that can be written")
		}
		keep(w)
		return w, nil
	}
}

// explain puts an error of the host into words for the person who ran it.
func explain(err error) error {
	if err == nil {
		return nil
	}
	if _, chosen := errors.AsType[*exitError](err); chosen {
		return err
	}
	text := err.Error()
	way := ""
	if rpc, ok := errors.AsType[*process.RPCError](err); ok {
		text = rpc.Error() + ": " + rpc.Detail
		way = "some agents want to be logged in first: see the agent's own manual"
	}
	for _, prefix := range []string{"process: ", "config: ", "endpoint: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	if _, ok := errors.AsType[*process.StartError](err); ok {
		way = "is it installed, and is its name right?"
	}
	return failed(errors.New(text), way)
}
