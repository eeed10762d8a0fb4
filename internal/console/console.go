// Package console is the terminal front end: it runs one agent under the process
// manager, shows what happens, asks the person what nothing decides, and says how
// it ended. It also prints what the commands that read files found. The caller
// reads the command line and composes the pipelines; an [Exit] says with which
// code the program ends.
package console

import (
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/agents"
	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/stages"
)

// Streams are what a command speaks with.
type Streams struct {
	Stdin, Stdout *os.File
	Stderr        *Stderr
	Logger        *slog.Logger // it writes to stderr
}

// isTerminal says whether there is a person at both ends.
func (s Streams) isTerminal() bool {
	return term.IsTerminal(int(s.Stdin.Fd())) && term.IsTerminal(int(s.Stdout.Fd()))
}

// say tells the person something on stderr, in one line.
func (s Streams) say(text string) { s.tell("run", text) }

// tell is say for the command that is named.
func (s Streams) tell(command, text string) {
	writeLine(s.Stderr, "assent: "+command+": "+display.Line(text, maxShown))
}

// TellUnknown says that no dialect knows the agent, if that is so, and which one
// may have been meant.
func (s Streams) TellUnknown(command string, set dialects.Set, agent string) {
	if _, known := set.For(pipeline.Instance{Agent: pipeline.Agent(agent)}); known || agent == "" {
		return
	}
	meant := ""
	if near := agents.Near(agent); len(near) > 0 {
		meant = " (did you mean " + strings.Join(near, " or ") + "?)"
	}
	s.tell(command, fmt.Sprintf("no dialect knows the agent %q%s: it is asked about unless its requests name the tool", agent, meant))
}

// tellDropped says at the end, where it may be read, that stderr was not.
func (s Streams) tellDropped(screen *screen) {
	s.Stderr.Hurry()
	if n := s.Stderr.Flush(); n > 0 {
		screen.line("note", "%d lines on stderr were dropped: nobody reads it", n)
	}
}

// Flags are what the person asked for.
type Flags struct {
	Agent       string   // the agent's id; empty: it is guessed from the command's name
	Prompt      []string // what the agent is told; none: prompts are typed
	OnPending   string   // allow, reject or cancel; empty: the person is asked, if there is one
	AutoApprove bool     // blanket approval
	MCP         []string // servers of the user, NAME=URL
	Port        int      // of the injected server; 0: any free one
	Record      string   // file for the traffic; empty: none
	Audit       string   // file for the audit; empty: none
	Metrics     string   // address where metrics are served; empty: nowhere
	Cwd         string   // where the agent works; empty: here
	Demo        bool     // run the demo agent
	Passthrough bool     // hand the terminal to Codex

	Command []string // the agent and its arguments
}

// Options are for [Run].
type Options struct {
	Streams
	Flags
	// Pipelines makes the pipeline of an instance, and Dialects are those that it
	// was built with.
	Pipelines stages.PipelineFactory
	Dialects  dialects.Set
	// Version of this program.
	Version string
	// DemoAgent starts the demo agent, for Flags.Demo.
	DemoAgent process.Command
}

// Run runs one agent until it is done or the person stops it.
func Run(o Options) error {
	// That the reader of a pipe has gone is an error of the write, and no signal that
	// ends the program.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	launch, err := o.launch()
	if err != nil {
		return err
	}
	switch {
	case o.Passthrough:
		return o.passthrough(launch)
	case !o.Demo:
		return o.host(launch, o.Prompt)
	case o.wantsShadow():
		return o.shadow(launch.Command)
	}
	other, err := startOther(o.Version)
	if err != nil {
		return err
	}
	defer other.close()
	launch.Config.MCPServers = append(launch.Config.MCPServers, other.entry())
	return o.host(launch, demoPrompts(o.Prompt, o.isTerminal()))
}

// host runs the agent under the process manager.
func (o *Options) host(launch process.Launch, prompts []string) error {
	h, err := newHost(o, launch, prompts)
	if err != nil {
		return err
	}
	return h.run()
}
