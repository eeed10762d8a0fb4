package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/agents"
	"github.com/kandev/assent/internal/host/child"
	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/frame"
	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// InstanceID names an instance. It is unique within a manager, never used again,
// and can be logged.
type InstanceID = pending.InstanceID

// Instance is one agent process. It is safe for concurrent use.
type Instance struct {
	manager  *Manager
	id       InstanceID
	from     Launch
	config   config.InstanceConfig
	pipeline *pipeline.Pipeline
	hinter   dialects.OptionHinter // nil: this agent's options need no hint
	endpoint *endpoint.Endpoint    // nil: nothing is injected
	recorder Recorder
	secrets  *secrets
	log      *slog.Logger

	child *child.Child
	conn  *conn
	mute  atomic.Bool // nobody is left to be answered
	owed  owed
	agent agentInfo

	nets *nets.Guard

	// ctx ends when the end begins; killCtx when nothing is waited for any more.
	ctx     context.Context
	cancel  context.CancelCauseFunc
	killCtx context.Context
	hurry   context.CancelFunc

	mu       sync.Mutex
	sessions map[string]*Session
	cause    error         // why the end began
	ending   chan struct{} // closed when it did

	err  error         // set before done is closed
	done chan struct{} // closed when nothing of the instance is left
}

// ID names the instance.
func (i *Instance) ID() InstanceID { return i.id }

// Config are the settings, as they hold.
func (i *Instance) Config() config.InstanceConfig { return i.config }

// Done is closed when the process is gone and nothing of the instance is left.
func (i *Instance) Done() <-chan struct{} { return i.done }

// Err says why the instance ended: nil for one that was stopped, [*ExitError] for
// one that ended by itself. It is for after [Instance.Done].
func (i *Instance) Err() error {
	select {
	case <-i.done:
		return i.err
	default:
		return nil
	}
}

// launching are the settings that make the agent ask.
func (i *Instance) launching() agents.Launch { return agents.Launching(i.config.Agent) }

// begin tells of the instance and starts it.
func (i *Instance) begin() error {
	if i.from.Named != nil {
		if err := i.from.Named(i.id); err != nil {
			return err
		}
	}
	return i.launch(i.from.Command)
}

// launch starts the process and the goroutines around it.
func (i *Instance) launch(c Command) error {
	if c.Env == nil {
		c.Env = os.Environ()
	}
	var added []string
	if c.Env, added = i.launching().Environment(c.Env, i.endpoint != nil); len(added) > 0 {
		i.log.Info("variables were added to the agent's environment", "names", added)
	}
	p, err := child.Start(c, child.Options{Drain: i.manager.options.Timeouts.drain})
	if err != nil {
		return err
	}
	i.mu.Lock()
	i.child = p
	i.mu.Unlock()
	i.log.Info("agent started", "pid", p.Pid(), "settings", i.config)
	read, written := make(chan struct{}), make(chan struct{})
	go func() { defer close(read); i.conn.read(p.Stdout); i.end(ErrOutputClosed) }()
	go func() { defer close(written); i.conn.write(p.Stdin) }()
	go i.supervise(read, written)
	return nil
}

// end begins the end, once.
func (i *Instance) end(cause error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.cause == nil {
		i.cause = cause
		close(i.ending)
	}
}

// exitGrace is how long an agent that closed its output may take to exit.
const exitGrace = 2 * time.Second

// supervise waits for the end and leaves nothing behind.
func (i *Instance) supervise(read, written <-chan struct{}) {
	defer close(i.done)
	g := child.Graces{Close: i.manager.options.Timeouts.Close, Term: i.manager.options.Timeouts.Term}
	select {
	case <-i.child.Exited():
		i.end(ErrEnded)
	case <-i.ending:
	}
	stopped := errors.Is(i.endCause(), ErrStopped)
	if !stopped {
		g.Close = min(g.Close, exitGrace)
	}
	i.wind(stopped)
	signalled := i.child.Stop(i.killCtx, g)
	i.conn.out.drop()
	_ = i.child.Stdin.Close() // a process that it left behind may hold the other end
	<-read
	<-written
	<-i.child.Quiet()
	_ = i.child.Stdout.Close()
	i.err = i.finalError(stopped, signalled)
	i.conn.calls.fail(ended(i.err))
	i.manager.forget(i)
	i.log.Info("agent ended", "state", i.child.State().String(), "stopped", stopped)
	if err := i.abandon(); err != nil {
		i.log.Error("closing an instance failed", "error", err)
	}
}

// wind ends every open offer and then the agent's input. An agent that is being
// stopped still gets its answers; of any other end nobody is left to be answered.
func (i *Instance) wind(stopped bool) {
	i.mute.Store(!stopped)
	i.manager.options.Store.DropInstance(i.id)
	i.cancel(ErrEnded)
	i.owed.wait() // an answer that was given just before is on its way
	i.conn.out.close()
}

func (i *Instance) endCause() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.cause
}

// finalError is what the instance ended with. An agent that went by itself has
// its own exit to tell, whatever was noticed first.
func (i *Instance) finalError(stopped, signalled bool) error {
	switch {
	case stopped:
		return nil
	case signalled:
		return i.endCause()
	}
	return &ExitError{State: i.child.State(), Stderr: i.Stderr()}
}

// Stderr is the end of what the agent wrote there, escaped and bounded. It is for
// a person only: it can quote anything that the agent was sent.
func (i *Instance) Stderr() string { return i.secrets.redact(i.child.Stderr()) }

// abandon closes what is around the process.
func (i *Instance) abandon() error {
	i.cancel(ErrEnded)
	i.hurry()
	if i.endpoint == nil {
		return nil
	}
	return i.endpoint.Close()
}

// Stop ends the agent: open offers are answered "cancelled", its input is closed,
// and when it does not end by itself in time it gets SIGTERM and then SIGKILL,
// with everything in its process group. When ctx ends it is killed at once. Stop
// returns when nothing of the instance is left.
func (i *Instance) Stop(ctx context.Context) {
	i.end(ErrStopped)
	select {
	case <-i.done:
	case <-ctx.Done():
		i.hurry()
		<-i.done
	}
}

// startFailure says why a start failed: the exit of an agent that went by itself,
// else what was wrong with its answer, with the end of its stderr.
func (i *Instance) startFailure(err error) error {
	if exit, ok := errors.AsType[*ExitError](i.err); ok {
		return exit
	}
	return &HandshakeError{Err: err, Stderr: i.Stderr()}
}

// protocolVersion is the version of ACP that is spoken to agents.
const protocolVersion = 1

// agentInfo is what the agent said of itself.
type agentInfo struct {
	ProtocolVersion int `json:"protocolVersion"`
	Capabilities    struct {
		Load    bool                   `json:"loadSession"`
		MCP     config.MCPCapabilities `json:"mcpCapabilities"`
		Session struct {
			Resume jsontext.Value `json:"resume"`
			Fork   jsontext.Value `json:"fork"`
		} `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
	Info struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version string `json:"version"`
	} `json:"agentInfo"`
}

// AgentName and AgentVersion are what the agent calls itself; agent text.
func (i *Instance) AgentName() string    { return i.about().Info.Name }
func (i *Instance) AgentVersion() string { return i.about().Info.Version }

func (i *Instance) about() agentInfo {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.agent
}

type initializeParams struct {
	ProtocolVersion int `json:"protocolVersion"`
	ClientInfo      struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"clientInfo"`
	ClientCapabilities struct {
		FS struct {
			Read  bool `json:"readTextFile"`
			Write bool `json:"writeTextFile"`
		} `json:"fs"`
		Terminal bool `json:"terminal"`
	} `json:"clientCapabilities"`
}

// initialize shakes hands.
func (i *Instance) initialize(ctx context.Context) error {
	params := initializeParams{ProtocolVersion: protocolVersion}
	params.ClientInfo.Name, params.ClientInfo.Version = "assent", i.manager.options.Version
	result, err := i.timed(ctx, i.manager.options.Timeouts.Initialize, request{method: acp.MethodInitialize, params: params})
	if err != nil {
		return err
	}
	var info agentInfo
	if err := json.Unmarshal(result, &info, frame.Lenient); err != nil {
		return ErrHandshake
	}
	if info.ProtocolVersion != protocolVersion {
		return &VersionError{Version: info.ProtocolVersion}
	}
	i.mu.Lock()
	i.agent = info
	i.mu.Unlock()
	return nil
}

// timed is a call that a missing answer ends with a [*TimeoutError].
func (i *Instance) timed(ctx context.Context, d time.Duration, r request) (jsontext.Value, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d, &TimeoutError{Method: r.method, After: d})
	defer cancel()
	return i.conn.call(ctx, r)
}

// CancelSession cancels what goes on in a session, also one that the agent made
// by itself. Each of its open offers is answered "cancelled" at once: some agents
// wait for that answer for ever.
func (i *Instance) CancelSession(session string) error {
	line, err := newMessage("", acp.MethodCancel, map[string]string{"sessionId": session})
	if err != nil {
		return err
	}
	i.mu.Lock()
	if s := i.sessions[session]; s != nil {
		s.cancelled()
	}
	i.mu.Unlock()
	err = i.conn.out.push(outLine{line: line})
	i.manager.options.Store.CancelSession(i.id, session)
	if err != nil {
		return fmt.Errorf("process: session/cancel: %w", err)
	}
	return nil
}

// cancelling says whether a turn of the session was cancelled and has not ended.
func (i *Instance) cancelling(session string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	s := i.sessions[session]
	return s != nil && s.turnCancelled()
}
