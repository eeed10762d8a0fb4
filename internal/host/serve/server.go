package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/gateway"
	"github.com/kandev/assent/internal/host/mcptools"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/host/state"
	"github.com/kandev/assent/internal/host/task"
	"github.com/kandev/assent/internal/host/telemetry"
	"github.com/kandev/assent/internal/host/token"
	"github.com/kandev/assent/stages"
)

// Options are what a server is made of. The parts are the caller's to close, after
// [Server.Drain].
type Options struct {
	Config Config
	// Pipelines makes the pipeline of an instance, and Dialects are those that it was
	// built with.
	Pipelines stages.PipelineFactory
	Dialects  dialects.Set

	State  *state.State
	Tokens *token.Store
	// Audit and the file that it writes.
	Audit     *audit.Log
	AuditFile string
	Telemetry *telemetry.Telemetry // nil for none

	Logger  *slog.Logger
	Version string
}

// Server is a running daemon.
type Server struct {
	config    Config
	run       string
	started   time.Time
	version   string
	home      string // where agents work that are not told otherwise
	log       *slog.Logger
	state     *state.State
	tokens    *token.Store
	audit     *audit.Log
	auditFile string

	dispatcher *dispatch.Dispatcher
	store      *pending.Store
	offers     *offerBook
	decisions  *ring[decisionView]
	nets       *ring[netView]
	unasked    *ring[unaskedView]
	closed     *ring[closedView]
	acts       *ring[actedView]
	spoken     *spoken
	surfaces   *surfaces
	manager    *process.Manager
	runner     *runner
	tasks      *task.Service
	gateway    *gateway.Gateway
	address    net.Addr
	external   *mcptools.External
	control    *control
	hook       *webhook
	ready      readiness

	background sync.WaitGroup
	draining   sync.Once
	drained    error
}

// remembered is how many automatic decisions a page gets when it connects, how many
// offers that are over, how many nets that fired, how many calls that ran unasked, and how
// many things that were done to tasks: none pushes out another kind.
const remembered = 200

// New starts a server: it listens and takes up what an earlier run left. Ctx bounds
// the start alone.
func New(ctx context.Context, o Options) (*Server, error) {
	if err := o.Config.Check(); err != nil {
		return nil, err
	}
	home, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("the working directory: %w", err)
	}
	s := &Server{
		home: home, config: o.Config, run: o.Audit.Run(), started: time.Now().UTC(), version: o.Version, log: o.Logger,
		state: o.State, tokens: o.Tokens, audit: o.Audit, auditFile: o.AuditFile,
		dispatcher: dispatch.New(o.Logger), store: pending.New(o.Config.pending()),
		offers: newOfferBook(), decisions: newRing[decisionView](remembered),
		nets: newRing[netView](remembered), unasked: newRing[unaskedView](remembered),
		closed: newRing[closedView](remembered), acts: newRing[actedView](remembered), spoken: newSpoken(),
	}
	s.runner = newRunner(s)
	s.surfaces = &surfaces{
		store: s.store, running: s.runner.alive, limited: map[looking]dispatch.Person{},
		reaches: func(p dispatch.Person, watched, of task.ID) bool {
			return s.tasks.Reaches(task.Person(p), watched, of)
		},
	}
	if err := s.open(ctx, &o); err != nil {
		return nil, errors.Join(err, s.Drain(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// open makes the parts, in the order in which they need each other.
func (s *Server) open(ctx context.Context, o *Options) (err error) {
	if s.hook, err = newWebhook(o.Config.Webhook, os.Getenv(o.Config.Webhook.SecretEnv), s.run, s.log, s.surfaces.told); err != nil {
		return err
	}
	s.manager, err = process.NewManager(process.Options{
		Pipelines: o.Pipelines, Dialects: o.Dialects, Store: s.store, Watcher: watcher{s}, Logger: s.log,
		Audit: o.Audit, Telemetry: o.Telemetry, Version: o.Version,
	})
	if err != nil {
		return err
	}
	if s.tasks, err = task.New(ctx, o.State, task.Options{Runner: s.runner, Logger: s.log}); err != nil {
		return err
	}
	s.ready.state, s.ready.audit = o.State, o.Audit
	if s.ready.bucket, err = o.State.Bucket(ctx, "tokens"); err != nil {
		return err
	}
	if err := s.register(); err != nil {
		return err
	}
	if err := s.listen(ctx, o); err != nil { // nobody is let in yet
		return err
	}
	events, stop := s.tasks.Watch(taskEvents)
	s.background.Go(func() { defer stop(); s.follow(events) })
	if s.control, err = openControl(o.Config.Data, s.log, s.manageTokens); err != nil {
		return err
	}
	if err := s.takeUp(ctx); err != nil {
		return err
	}
	s.gateway.Serve()
	s.warnOfAgents(o.Dialects)
	s.warnOfHosts()
	s.log.Info("the server runs", "listen", s.address.String(), "data", o.Config.Data, "agents", len(o.Config.Agents), "version", s.version, "run", s.run)
	return nil
}

// taskEvents is how many changes of tasks may wait to be published.
const taskEvents = 4096

// listen makes the gateway, which does not serve yet.
func (s *Server) listen(ctx context.Context, o *Options) error {
	certificate, err := o.Config.TLS.certificate()
	if err != nil {
		return err
	}
	address := o.Config.Listen
	if address == "" {
		address = DefaultListen
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return listenError(address, err)
	}
	s.address = listener.Addr()
	s.external = &mcptools.External{Dispatcher: s.dispatcher, PersonOf: gateway.PersonOf, Version: o.Version}
	s.gateway, err = gateway.New(gateway.Options{
		Listener: listener, TLS: certificate, Hosts: o.Config.Hosts, Origins: o.Config.Origins,
		Dispatcher: s.dispatcher, Tokens: people{s.tokens}, MaySee: s.maySee, Run: s.run,
		MCP: s.external, Metrics: o.Telemetry.Handler(), Ready: s.ready.check, Logger: s.log,
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	s.tokens.Ended(func(name string) {
		s.gateway.DropToken(name)
		s.external.Drop(name)
		s.surfaces.drop(name)
	})
	return nil
}

// people are the tokens as the gateway knows them.
type people struct{ tokens *token.Store }

// Find implements [gateway.Tokens].
func (p people) Find(secret string) (dispatch.Person, bool) {
	t, ok := p.tokens.Find(secret)
	return t.Person(), ok
}

// URL is where the page is.
func (s *Server) URL() string {
	scheme := "http"
	if s.config.TLS.Cert != "" {
		scheme = "https"
	}
	return scheme + "://" + reachable(s.address) + "/"
}

// reachable is an address as a browser on this machine can open it.
func reachable(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("localhost", port)
	}
	return a.String()
}

// cancelOthers cancels the sessions that an agent made by itself, as far as they ask
// for something.
func (s *Server) cancelOthers(i *process.Instance, own string) {
	done := map[string]bool{own: true}
	for _, offer := range s.store.List(pending.Query{Scope: pending.Scope{Instance: i.ID()}}) {
		if session := offer.Key.Session; !done[session] {
			done[session] = true
			_ = i.CancelSession(session) // it fails only when the agent has ended
		}
	}
}

// Drain ends the server: no agent begins any more, those that run are stopped and
// what they ask for is answered cancelled, requests that run are let finish, and
// clients are told. When ctx ends the rest is cut. Calling it again waits for the
// first call and returns its error.
func (s *Server) Drain(ctx context.Context) error {
	s.draining.Do(func() { s.drained = s.drain(ctx) })
	return s.drained
}

func (s *Server) drain(ctx context.Context) error {
	began := time.Now()
	s.log.Info("the server ends: agents are stopped, and clients are told")
	var errs []error
	if s.control != nil {
		s.control.close()
	}
	errs = append(errs, s.runner.drain(ctx))
	if s.gateway != nil {
		errs = append(errs, s.gateway.Shutdown(ctx))
	}
	if s.tasks != nil {
		s.tasks.Close()
	}
	s.background.Wait()
	s.hook.close()
	s.log.Info("no agent runs and no client is connected any more", "took", time.Since(began))
	return errors.Join(errs...)
}
