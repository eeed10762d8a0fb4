package console

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/kandev/assent/internal/agents"
	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/record"
)

// launch checks the command line and says what to start.
func (o *Options) launch() (process.Launch, error) {
	if err := o.checkFlags(); err != nil {
		return process.Launch{}, err
	}
	servers, err := userServers(o.MCP)
	if err != nil {
		return process.Launch{}, err
	}
	dir, err := directory(o.Cwd)
	if err != nil {
		return process.Launch{}, err
	}
	l := process.Launch{
		Config:   config.Config{AutoApprovePermissions: o.AutoApprove, MCPServers: servers},
		Endpoint: &endpoint.Options{Port: o.Port, Logger: o.Logger, Version: o.Version},
	}
	if o.Demo {
		l.Command = o.DemoAgent
	} else {
		l.Command = process.Command{Path: o.Command[0], Args: o.Command[1:]}
	}
	l.Command.Dir = dir
	if path := l.Command.Program(); filepath.IsAbs(path) && isDirectory(path) { // the system would say: permission denied
		return l, Usage(fmt.Sprintf("cannot start %q: it is a directory", filepath.Base(path)), "give the program in it")
	}
	o.chooseAgent(&l)
	if _, err := l.Config.NewInstanceConfig(l.Overrides); err != nil { // before anything is started
		return l, Usage(strings.TrimPrefix(err.Error(), "config: "), "")
	}
	return l, nil
}

func (o *Options) checkFlags() error {
	switch {
	case o.Demo && len(o.Command) > 0:
		return Usage("--demo brings its own agent", "leave the command or --demo out")
	case !o.Demo && len(o.Command) == 0:
		return Usage("no agent was given", "as in: assent run --agent claude-acp -- claude-agent-acp; or try: assent run --demo")
	case o.Port < 0 || o.Port > 65535:
		return Usage(fmt.Sprintf("--port %d is no port", o.Port), "use 1 to 65535")
	case !slices.Contains([]string{"", "allow", "reject", "cancel"}, o.OnPending):
		return Usage(fmt.Sprintf("--on-pending %s is no answer", o.OnPending), "use allow, reject or cancel")
	case o.Passthrough && (o.Demo || len(o.Prompt) > 0 || o.Record != "" || o.Audit != "" || o.Metrics != "" || o.OnPending != "" || o.AutoApprove):
		return Usage("--passthrough hands the terminal to the agent: nothing else can be said, asked, recorded or counted", "leave --demo, --prompt, --record, --audit, --metrics, --on-pending and --auto-approve out")
	}
	return nil
}

// chooseAgent takes the agent id from the flag, or guesses it.
func (o *Options) chooseAgent(l *process.Launch) {
	switch {
	case o.Agent != "":
		l.Config.Agent = o.Agent
	case o.Demo:
		l.Config.Agent = agents.Claude
	default:
		guess := agents.Guess(o.Command)
		if guess == "" && !o.Passthrough {
			o.say("the agent is not known by its name: its tools are asked about unless its requests name them (--agent ID configures it)")
		}
		if guess == "" {
			return
		}
		l.Overrides.Agent, l.Overrides.AgentGuessed = guess, true
		if o.Passthrough { // nothing is decided there
			return
		}
		o.say(fmt.Sprintf("agent id %s is guessed from the command's name, which identifies no tools (--agent %s configures it)", guess, guess))
	}
}

// userServers reads --mcp NAME=URL.
func userServers(flags []string) (config.Servers, error) {
	var servers config.Servers
	for _, f := range flags {
		name, url, ok := strings.Cut(f, "=")
		if !ok || name == "" || url == "" {
			return nil, Usage("--mcp needs a name and a URL", "as in --mcp docs=http://localhost:8000/mcp")
		}
		if strings.Contains(name, "://") { // it may hold a password
			return nil, Usage("--mcp needs a name before the URL", "as in --mcp docs=http://localhost:8000/mcp")
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
		return "", Usage("--cwd: "+err.Error(), "")
	}
	if !isDirectory(dir) {
		return "", Usage(fmt.Sprintf("--cwd %s is no directory", dir), "give one that exists")
	}
	return dir, nil
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// passthrough hands the terminal to Codex.
func (o *Options) passthrough(l process.Launch) error {
	if id := l.Config.Agent + l.Overrides.Agent; id != agents.Codex && agents.ProgramName(o.Command[0]) != "codex" {
		return Usage("--passthrough knows Codex only", "as in: assent run --passthrough -- codex")
	}
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGQUIT) // they are the agent's, which has the keyboard
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := process.Passthrough(ctx, l, process.Terminal{
		Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr.File(),
		Warn: func(w config.Warning) { o.say("warning: " + w.String()) },
	})
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	return Explain(err)
}

// recorder makes the file for --record.
func (o *Options) recorder(keep func(*record.Writer)) func(config.InstanceConfig) (process.Recorder, error) {
	if o.Record == "" {
		return nil
	}
	return func(ic config.InstanceConfig) (process.Recorder, error) {
		h := record.Header{Agent: ic.Agent, Port: ic.Port}
		if ic.AgentGuessed {
			h.Agent, h.Guessed = "", ic.Agent
		}
		w, err := record.Create(o.Record, h)
		if err != nil {
			return nil, NotRecorded(err)
		}
		keep(w)
		return w, nil
	}
}

// NotRecorded says why there is no file for --record.
func NotRecorded(err error) error {
	way := "give a file that can be written"
	if errors.Is(err, record.ErrNotEmpty) {
		way = "" // it says one
	}
	return Usage("--record: "+strings.TrimPrefix(err.Error(), "record: "), way)
}
