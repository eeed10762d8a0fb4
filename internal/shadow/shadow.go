// Package shadow plays the acts of the demo agent that only look like a call of
// the injected server, one agent instance each, and says which net held: the
// witness, before anything is approved, or the tripwire, after the first call
// that never arrived.
package shadow

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/demoagent"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/host/telemetry"
	"github.com/kandev/assent/stages"
)

// Options say what the acts are played on.
type Options struct {
	Pipelines stages.PipelineFactory
	Dialects  dialects.Set
	// Store holds what waits, for this host alone. Whoever answers it has to be
	// there already.
	Store *pending.Store
	// Watcher is told everything, too.
	Watcher process.Watcher
	Logger  *slog.Logger
	// Audit and Telemetry as in [process.Options].
	Audit     *audit.Log
	Telemetry *telemetry.Telemetry
	Version   string
	// Agent is the demo agent; the act is added to its environment.
	Agent process.Command
}

// agentID is whose frames the demo agent sends.
const agentID = "claude-acp"

// asksTwice makes the agent call one tool of the injected server two times.
const asksTwice = "list-tasks list-tasks"

// Host plays acts, one at a time.
type Host struct {
	options Options
	manager *process.Manager
	watch   *watch
}

// NewHost makes a host. Nothing is started yet.
func NewHost(o Options) (*Host, error) {
	h := &Host{options: o, watch: newWatch(o.Watcher)}
	var err error
	h.manager, err = process.NewManager(process.Options{
		Pipelines: o.Pipelines, Dialects: o.Dialects, Store: o.Store, Watcher: h.watch, Logger: o.Logger, Version: o.Version,
		Audit: o.Audit, Telemetry: o.Telemetry,
	})
	return h, err
}

// Play plays one act with an agent of its own. The error says that it could not
// be played to its end.
func (h *Host) Play(ctx context.Context, act demoagent.Act) (Report, error) {
	h.watch.forget()
	o := h.options
	instance, err := h.manager.Start(ctx, process.Launch{
		Command:  h.command(act),
		Config:   config.Config{Agent: agentID},
		Endpoint: &endpoint.Options{Observer: h.watch, Logger: o.Logger, Version: o.Version},
	})
	if err != nil {
		return Report{}, err
	}
	err = h.perform(ctx, act, instance)
	instance.Stop(ctx) // after it nothing can happen any more
	return h.watch.report(act), err
}

// perform lets the agent ask. One that borrows needs a first session to borrow
// from, where it behaves.
func (h *Host) perform(ctx context.Context, act demoagent.Act, i *process.Instance) error {
	sessions := 1
	if act == demoagent.Borrows {
		sessions = 2
	}
	for range sessions {
		session, err := i.NewSession(ctx, h.dir())
		if err != nil {
			return err
		}
		h.watch.begin(session)
		if _, err := session.Prompt(ctx, asksTwice); err != nil {
			return err
		}
	}
	return nil
}

func (h *Host) dir() string {
	if h.options.Agent.Dir != "" {
		return h.options.Agent.Dir
	}
	return os.TempDir()
}

// command is the agent in an act.
func (h *Host) command(act demoagent.Act) process.Command {
	c := h.options.Agent
	if c.Env == nil {
		c.Env = os.Environ()
	}
	c.Env = append(c.Env[:len(c.Env):len(c.Env)], fmt.Sprintf("%s=%s", demoagent.ActVariable, act))
	return c
}
