package proxy

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/agents"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/child"
	"github.com/kandev/assent/internal/host/upstream"
	"github.com/kandev/assent/internal/record"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// Recorder is given every line between us and the agent, in the order in which
// the decisions see them. See package record.
type Recorder interface {
	Agent(line []byte) error
	Client(line []byte) error
	// Hide keeps a secret out of what comes later.
	Hide(secret string)
}

// Injection is one MCP server of the user that the agent gets, and that is trusted.
type Injection struct {
	// Name that the agent knows it by.
	Name string
	// Target is where it really is. Its headers stay on our side.
	Target upstream.Target
}

// Options say what is relayed and how it is decided.
type Options struct {
	// Command is the agent.
	Command child.Command
	// Agent is the agent id; Guessed says that nobody configured it.
	Agent   string
	Guessed bool
	// AutoApprove is blanket approval: the person's own choice.
	AutoApprove bool
	// Inject are the injected servers, each with a name of its own.
	Inject []Injection
	// Pipelines makes the pipelines, with a witness in their order.
	Pipelines func(pipeline.Instance) (*pipeline.Pipeline, error)
	Dialects  dialects.Set
	// Client is the connection to the client: its lines, and where it reads ours.
	// ToClient is closed when the agent closes its stdout.
	Client   io.Reader
	ToClient io.WriteCloser
	// AgentStderr is the agent's stderr, Stderr where our own lines go. A write to
	// the latter should not block.
	AgentStderr *os.File
	Stderr      io.Writer
	Logger      *slog.Logger
	// Explain says each decision in one line on Stderr.
	Explain bool
	// Audit keeps a record of each decision and answer; nil for none.
	Audit *audit.Log
	// Recorder is made once the ports of the injected servers are known, of which there
	// may be none; nil for no recording.
	Recorder func(injected []record.Server) (Recorder, error)
	// Signals are passed on to the agent.
	Signals <-chan os.Signal
	// Watcher is the command line of this program as the watcher (see [Watch]); nil
	// for none.
	Watcher []string
	// Version of this program, told to MCP clients and servers.
	Version string
	// MaxLine is the longest line in bytes that is relayed; 0 means
	// [acp.DefaultMaxLine].
	MaxLine int
	// Close and Term are how long an agent may take to end after its stdin was
	// closed, and after SIGTERM. 0 means three seconds.
	Close, Term time.Duration

	mark []string // the variable by which the watcher finds what was started
}

// Exit codes of an agent that did not end by itself.
const (
	exitSignalled = 128 // plus the number of the signal
	exitGood      = 0
)

// Run relays until the agent has ended, and returns its exit code: that of its own,
// or 128 and the signal's number. An agent that had to be told to end after the
// client had gone ended well. The error says why nothing could be relayed.
func Run(ctx context.Context, o Options) (code int, err error) {
	if o.Close <= 0 {
		o.Close = 3 * time.Second
	}
	if o.Term <= 0 {
		o.Term = 3 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	w, err := startWatcher(o.Watcher, o.Logger)
	if err != nil {
		return 0, err
	}
	defer w.close()
	o.mark = w.mark()
	r, err := newRelay(ctx, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.gate.close()) }()
	p, err := child.Start(r.command(o), child.Options{Stderr: o.AgentStderr, Blocking: true})
	if err != nil {
		return 0, err
	}
	w.watch(p.Pid())
	r.agent = newToAgent(p.Stdin, p.TryWrite)
	return r.run(ctx, o, p, w), nil
}

// command is the agent with what makes it ask in its environment.
func (r *relay) command(o Options) child.Command {
	c := o.Command
	if c.Env == nil {
		c.Env = os.Environ()
	}
	var added []string
	c.Env, added = agents.Launching(o.Agent).Environment(c.Env, r.gate.injects())
	if len(added) > 0 {
		r.report.say("the agent asks because of what is set in its environment: " + strings.Join(added, ", "))
	}
	c.Env = append(c.Env[:len(c.Env):len(c.Env)], o.mark...)
	return c
}

// run relays until the end.
func (r *relay) run(ctx context.Context, o Options, p *child.Child, w *watcher) int {
	agentEnded, clientEnded := make(chan error, 1), make(chan struct{})
	fromClient := acp.NewReader(o.Client, r.maxLine)
	var fromAgent io.Reader = p.Stdout
	if r.both = newBoth(r, fromClient, o, p.Stdout.File); r.both != nil {
		fromAgent = r.both.hearing(fromAgent)
	}
	go r.agent.serve()
	go func() {
		err := r.fromAgent(ctx, &paced{r: fromAgent, calm: &r.agent.calm})
		_ = o.ToClient.Close() // the client sees the end of the agent's output
		agentEnded <- err
	}()
	go func() {
		r.fromClient(fromClient)
		close(clientEnded) // not behind what follows: an agent that does not read lets it wait
		r.agent.end()
	}()

	over := make(chan struct{})
	defer close(over)
	code := r.supervise(o, p, agentEnded, clientEnded, r.watchClient(o.Client, over))
	if code > exitSignalled || !p.State().Exited() {
		w.sweep() // it did not tidy up
	}
	r.agent.stop()
	select {
	case <-agentEnded: // its last words are with the client
	case <-time.After(lastPatience):
		r.log.Warn("the client does not read: the agent's last lines are lost")
	}
	p.HangUp()
	_ = p.Stdin.Close()
	_ = p.Stdout.Close()
	return code
}

// lastPatience is how long a client may take to read the last lines of an agent
// that has ended.
const lastPatience = 5 * time.Second
