package process

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/child"
	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/telemetry"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// Timeouts bound what a manager waits for. A zero field means its default.
type Timeouts struct {
	// Initialize and Session: the answers to initialize and to session requests,
	// two minutes each: agents started through a package runner may be downloaded
	// first.
	Initialize, Session time.Duration
	// Close: from the end of its input to SIGTERM. Term: from there to SIGKILL.
	// Three seconds each.
	Close, Term time.Duration

	// drain: how long output is still read after the process has gone, since a
	// process that it left behind may hold its stdout open for ever. One second.
	drain time.Duration
}

func (t Timeouts) withDefaults() Timeouts {
	for _, d := range []struct {
		value   *time.Duration
		missing time.Duration
	}{
		{&t.Initialize, 2 * time.Minute}, {&t.Session, 2 * time.Minute},
		{&t.Close, 3 * time.Second}, {&t.Term, 3 * time.Second}, {&t.drain, time.Second},
	} {
		if *d.value <= 0 {
			*d.value = d.missing
		}
	}
	return t
}

// Options say what a manager works with.
type Options struct {
	// Pipelines makes the pipeline of each instance.
	Pipelines func(pipeline.Instance) (*pipeline.Pipeline, error)
	// Dialects of the agents.
	Dialects dialects.Set
	// Store holds what no stage decides until a person answers. It is the host's
	// to close, after the manager was stopped, and serves one manager alone.
	Store *pending.Store
	// Watcher is told what happens; nil for nobody.
	Watcher Watcher
	// Logger; nil for none.
	Logger *slog.Logger
	// Audit keeps one record per decision, answer, net and unasked call; nil for
	// nobody. Telemetry counts them; nil for nothing.
	Audit     *audit.Log
	Telemetry *telemetry.Telemetry
	// Version of the host, told to agents.
	Version  string
	Timeouts Timeouts
	// MaxLine is the longest line in bytes that is taken from an agent; 0 means
	// [acp.DefaultMaxLine].
	MaxLine int
}

// Manager starts agents and answers their permission requests. It is safe for
// concurrent use.
type Manager struct {
	options Options
	log     *slog.Logger
	offered atomic.Uint64 // numbers of offers

	mu        sync.Mutex
	instances map[InstanceID]*Instance
	stopped   bool
}

// NewManager makes a manager. Without a store or pipelines there is none: a
// missing part must not answer anything by itself.
func NewManager(o Options) (*Manager, error) {
	switch {
	case o.Store == nil:
		return nil, ErrNoStore
	case o.Pipelines == nil:
		return nil, ErrNoPipelines
	}
	if o.Watcher == nil {
		o.Watcher = nobody{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Timeouts = o.Timeouts.withDefaults()
	return &Manager{options: o, log: o.Logger, instances: map[InstanceID]*Instance{}}, nil
}

// Command says what to start.
type Command = child.Command

// Launch says which agent to start and how.
type Launch struct {
	Command Command
	// Config and Overrides are the instance's settings. The port in Overrides is
	// set by the manager.
	Config    config.Config
	Overrides config.InstanceOverrides
	// Endpoint are the options of the injected MCP server, which lives as long as
	// the instance; nil for no injection.
	Endpoint *endpoint.Options
	// Named is told the id of the instance before its process starts: an agent may ask
	// for something at once. Its error fails the start. nil for nobody.
	Named func(InstanceID) error
	// Task is the host's own id of what the agent works on, for the audit; it can be
	// empty.
	Task string
	// Over says that what the agent was started for has ended: nothing is approved
	// automatically any more, not by blanket approval either. nil: it never has.
	Over func() bool
	// Recorder is made once the settings are known; nil for no recording.
	Recorder func(config.InstanceConfig) (Recorder, error)
}

// Start starts an agent and shakes hands with it. When it fails nothing of the
// instance is left: the error is a [*StartError], an [*ExitError] or a
// [*HandshakeError], [ErrStopped] after [Manager.Stop], or says what is wrong with
// the launch. Ctx bounds the start alone.
func (m *Manager) Start(ctx context.Context, l Launch) (*Instance, error) {
	i, err := m.newInstance(ctx, l)
	if err != nil {
		return nil, err
	}
	if err := m.register(i); err != nil {
		return nil, errors.Join(err, i.abandon())
	}
	if err := i.begin(); err != nil {
		m.options.Store.DropInstance(i.id) // whoever was told of it may have attached
		m.forget(i)
		i.err = err
		close(i.done) // somebody may be stopping it
		return nil, errors.Join(err, i.abandon())
	}
	if err := i.initialize(ctx); err != nil {
		i.end(err)
		i.hurry() // it never worked
		<-i.done
		return nil, i.startFailure(err)
	}
	return i, nil
}

// Restart stops an instance and starts another one from the same launch. The new
// one has an id, settings, an endpoint and secrets of its own: nothing of what was
// known of the old one, and of its server lists, counts for it. Its sessions can
// be taken up again with [Instance.LoadSession] or [Instance.ResumeSession].
func (m *Manager) Restart(ctx context.Context, i *Instance) (*Instance, error) {
	i.Stop(ctx)
	return m.Start(ctx, i.from)
}

// prepare makes everything of an instance but its process: the injected server
// and the settings. Launches that hand the terminal to the agent use it.
func (l Launch) prepare(ctx context.Context, observed func(endpoint.Observer) endpoint.Observer) (config.InstanceConfig, *endpoint.Endpoint, error) {
	var e *endpoint.Endpoint
	l.Overrides.Port = 0
	if l.Endpoint != nil {
		options := *l.Endpoint
		if observed != nil {
			options.Observer = observed(options.Observer)
		}
		opened, err := endpoint.Open(ctx, options)
		if err != nil {
			return config.InstanceConfig{}, nil, err
		}
		e, l.Overrides.Port = opened, opened.Port()
	}
	ic, err := l.Config.NewInstanceConfig(l.Overrides)
	if err != nil && e != nil {
		err = errors.Join(err, e.Close())
	}
	return ic, e, err
}

// newInstance makes the instance around a process that is not there yet.
func (m *Manager) newInstance(ctx context.Context, l Launch) (*Instance, error) {
	i := &Instance{manager: m, sessions: map[string]*Session{}, ending: make(chan struct{}), done: make(chan struct{}), log: m.log, from: l}
	ic, e, err := l.prepare(ctx, func(next endpoint.Observer) endpoint.Observer { return observer{i, next} })
	if err != nil {
		return nil, err
	}
	i.config, i.endpoint, i.secrets = ic, e, newSecrets(ic.MCPServers)
	i.nets = i.newGuard()
	i.ctx, i.cancel = context.WithCancelCause(context.Background())
	i.killCtx, i.hurry = context.WithCancel(context.Background())
	settings := ic.PipelineInstance()
	if i.pipeline, err = m.options.Pipelines(settings); err != nil {
		return nil, errors.Join(err, i.abandon())
	}
	dialect, _ := m.options.Dialects.For(settings)
	if hinter, ok := dialect.(dialects.OptionHinter); ok && !settings.Guessed {
		i.hinter = hinter
	}
	if l.Recorder != nil {
		if i.recorder, err = l.Recorder(ic); err != nil {
			return nil, errors.Join(err, i.abandon())
		}
	}
	i.conn = &conn{
		decoder:  acp.NewDecoder(acp.Options{Reserved: ic.ReservedName, Dialect: dialect}),
		recorder: i.recorder, client: i, log: m.log, redact: i.secrets.redact,
		maxLine: m.options.MaxLine, out: newOutbox(), broken: i.end,
	}
	return i, nil
}

// instanceID is the length of an instance's id, in characters of 5 random bits.
const instanceID = 13

// register gives the instance its id, which says nothing of how many there are.
func (m *Manager) register(i *Instance) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return ErrStopped
	}
	i.id = InstanceID(strings.ToLower(rand.Text()[:instanceID]))
	i.log = m.log.With("instance", string(i.id))
	i.conn.log = i.log
	m.instances[i.id] = i
	return nil
}

func (m *Manager) forget(i *Instance) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.instances, i.id)
}

// Instances lists what is running, in no order.
func (m *Manager) Instances() []*Instance {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]*Instance, 0, len(m.instances))
	for _, i := range m.instances {
		list = append(list, i)
	}
	return list
}

// Stop stops every instance and lets none be started any more. When ctx ends
// they are killed.
func (m *Manager) Stop(ctx context.Context) {
	m.mu.Lock()
	m.stopped = true
	m.mu.Unlock()
	var all sync.WaitGroup
	for _, i := range m.Instances() {
		all.Go(func() { i.Stop(ctx) })
	}
	all.Wait()
}
