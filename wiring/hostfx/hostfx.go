// Package hostfx composes the daemon with go.uber.org/fx: the stages and dialects of
// package wiring, and the parts of the host, each of which is an ordinary value that
// works without a container.
package hostfx

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"go.uber.org/dig"
	"go.uber.org/fx"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/serve"
	"github.com/kandev/assent/internal/host/state"
	"github.com/kandev/assent/internal/host/telemetry"
	"github.com/kandev/assent/internal/host/token"
	"github.com/kandev/assent/stages"
	"github.com/kandev/assent/wiring"
)

// Settings are what the daemon is composed from.
type Settings struct {
	// Config with a data folder.
	Config  serve.Config
	Logger  *slog.Logger
	Version string
	// ShowToken shows a token at the first start: a person reads the output.
	ShowToken bool
}

// Module is the daemon: it provides the *[serve.Server], which runs when the
// application is built and is drained when it stops. Settings come from the
// application.
var Module = fx.Module("host",
	wiring.Module,
	wiring.AsStage(stages.WitnessFactory),
	fx.Replace(stages.HostOrder()),
	fx.Provide(newClosers, newTelemetry, newState, newTokens, newAudit, newServer),
	fx.Invoke(func(lc fx.Lifecycle, c *closers) {
		lc.Append(fx.Hook{OnStop: c.close})
	}),
	fx.Invoke(func(*serve.Server) {}),
)

// closers are what has to be closed, in the order in which it was opened. fx runs no
// hook of an application that could not be built, so its parts are closed here. Start
// bounds the opening, and drain the part of the end that waits for others.
type closers struct {
	start context.Context
	drain time.Duration
	list  []func(context.Context) error
}

func newClosers() *closers { return &closers{start: context.Background(), drain: drainWithin} }

func (c *closers) add(f func(context.Context) error) { c.list = append(c.list, f) }

// close closes what was opened last first.
func (c *closers) close(ctx context.Context) error {
	var errs []error
	for ; len(c.list) > 0; c.list = c.list[:len(c.list)-1] {
		errs = append(errs, c.list[len(c.list)-1](ctx))
	}
	return errors.Join(errs...)
}

func newTelemetry(s Settings, c *closers) (*telemetry.Telemetry, error) {
	t, err := telemetry.New(c.start, telemetry.Options{Logger: s.Logger, Version: s.Version})
	if err == nil {
		c.add(t.Shutdown)
	}
	return t, err
}

func newState(s Settings, c *closers) (*state.State, error) {
	if err := serve.PrepareData(s.Config.Data); err != nil {
		return nil, err
	}
	st, err := state.Open(c.start, state.Options{Dir: s.Config.Data, URL: s.Config.NATS.URL, Creds: s.Config.NATS.Creds, Logger: s.Logger})
	if err == nil {
		c.add(func(context.Context) error { return st.Close() })
	}
	return st, err
}

func newTokens(s Settings, st *state.State, c *closers) (*token.Store, error) {
	t, err := token.Open(c.start, st, s.Logger)
	if err == nil {
		c.add(func(context.Context) error { t.Close(); return nil })
	}
	return t, err
}

func newAudit(s Settings, _ *state.State, t *telemetry.Telemetry, c *closers) (*audit.Log, error) { // after the folder is ours
	l, err := audit.Open(serve.AuditFile(s.Config.Data), audit.Options{Logger: s.Logger, Dropped: t.AuditDropped})
	if err == nil {
		c.add(l.Close)
	}
	return l, err
}

type serverIn struct {
	fx.In
	Settings  Settings
	Pipelines stages.PipelineFactory
	Dialects  dialects.Set
	State     *state.State
	Tokens    *token.Store
	Audit     *audit.Log
	Telemetry *telemetry.Telemetry
	Closers   *closers
}

func newServer(in serverIn) (*serve.Server, error) {
	s, err := serve.New(in.Closers.start, serve.Options{
		Config: in.Settings.Config, Pipelines: in.Pipelines, Dialects: in.Dialects,
		State: in.State, Tokens: in.Tokens, Audit: in.Audit, AuditFile: serve.AuditFile(in.Settings.Config.Data), Telemetry: in.Telemetry,
		Logger: in.Settings.Logger, Version: in.Settings.Version,
	})
	if err == nil {
		in.Closers.add(func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, in.Closers.drain)
			defer cancel()
			return s.Drain(ctx)
		})
	}
	return s, err
}

const (
	// drainWithin is how long agents and requests that run may take to end.
	drainWithin = 15 * time.Second
	// closeWithin is what is left after that to kill agents, cut requests and write the
	// audit: fx goes on without what it waits for, and the process would exit in the
	// midst of it. Both together are less than TimeoutStopSec in docs/assent.service.
	closeWithin = 13 * time.Second
)

// Run runs the daemon until ctx ends, and then drains it. Demo, if it is not empty, is
// what the configured agent is told first.
func Run(ctx context.Context, s Settings, out io.Writer, demo string) error {
	return run(ctx, &closers{start: ctx, drain: drainWithin}, s, out, demo)
}

func run(ctx context.Context, c *closers, s Settings, out io.Writer, demo string) error {
	var server *serve.Server
	app := fx.New(Module, fx.Supply(s), fx.Replace(c), fx.NopLogger, fx.Populate(&server))
	if err := app.Err(); err != nil {
		err = dig.RootCause(err) // without what the container did meanwhile
		if ctx.Err() != nil {
			err = nil // it was to end before it had begun
		}
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.drain+closeWithin)
		defer cancel()
		return errors.Join(err, c.close(bounded))
	}
	err := app.Start(context.WithoutCancel(ctx)) // nothing in it waits
	if err == nil {
		err = begin(ctx, server, s, out, demo)
	}
	if err == nil {
		<-ctx.Done()
	}
	if ctx.Err() != nil { // it was to end, perhaps before it had begun
		err = nil
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.drain+closeWithin)
	defer cancel()
	return errors.Join(err, app.Stop(bounded))
}

func begin(ctx context.Context, server *serve.Server, s Settings, out io.Writer, demo string) error {
	if err := server.Greet(ctx, out, s.ShowToken); err != nil || demo == "" {
		return err
	}
	return server.Begin(ctx, "Try assent", demo)
}
