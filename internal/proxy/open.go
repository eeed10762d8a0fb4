package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/kandev/assent/internal/agents"
	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/internal/record"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// ErrNoPipelines says that a relay was to be made without anything that decides.
var ErrNoPipelines = errors.New("proxy: a relay needs a factory of pipelines: without one nothing would be decided")

// newRelay makes everything but the agent's process.
func newRelay(ctx context.Context, o Options) (*relay, error) {
	if o.Pipelines == nil {
		return nil, ErrNoPipelines
	}
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	r := &relay{
		gate: &gate{log: log}, client: newSink(o.ToClient), ledger: newLedger(), turns: newTurns(),
		sessions: newSessionRequests(), modes: newModes(agents.Launching(o.Agent)), log: log, maxLine: o.MaxLine, blanket: o.AutoApprove,
		report: &reporter{stderr: o.Stderr, log: log, audit: o.Audit, agent: pipeline.Agent(o.Agent), explain: o.Explain, said: map[string]bool{}},
	}
	inject := o.Inject
	if len(inject) == 0 {
		inject = []Injection{{Name: pipeline.DefaultReservedName}}
	}
	for _, in := range inject {
		i, err := r.open(ctx, o, in, len(o.Inject) > 0)
		if err != nil {
			return nil, errors.Join(err, r.gate.close())
		}
		r.gate.injections = append(r.gate.injections, i)
	}
	if o.Recorder != nil {
		var err error
		if r.gate.recorder, err = o.Recorder(r.gate.injected()); err != nil {
			return nil, errors.Join(err, r.gate.close())
		}
	}
	return r, nil
}

// injected are the injected servers.
func (g *gate) injected() (list []record.Server) {
	for _, i := range g.injections {
		if i.endpoint != nil {
			list = append(list, record.Server{Name: i.config.ReservedName, Port: i.config.Port})
		}
	}
	return list
}

// open makes one injected server and what decides its calls; without live nothing
// is injected.
func (r *relay) open(ctx context.Context, o Options, in Injection, live bool) (*injection, error) {
	i := &injection{secrets: map[string]*endpoint.Session{}}
	overrides := config.InstanceOverrides{Agent: o.Agent, AgentGuessed: o.Guessed}
	if live {
		if len(in.Target.Command) > 0 {
			if in.Target.Env == nil {
				in.Target.Env = os.Environ()
			}
			in.Target.Env = append(in.Target.Env[:len(in.Target.Env):len(in.Target.Env)], o.mark...)
		}
		e, err := endpoint.Open(ctx, endpoint.Options{
			Version: o.Version, Logger: r.log, Observer: observer{i},
			Upstream: &endpoint.Upstream{Name: in.Name, Target: in.Target, Stderr: o.Stderr},
		})
		if err != nil {
			return nil, fmt.Errorf("proxy: injecting %q: %w", in.Name, err)
		}
		i.endpoint, overrides.Port = e, e.Port()
	}
	if err := r.decideWith(i, o, in.Name, overrides); err != nil {
		if i.endpoint != nil {
			err = errors.Join(err, i.endpoint.Close())
		}
		return nil, err
	}
	return i, nil
}

// decideWith makes the pipeline, the decoder and the nets of an injected server.
func (r *relay) decideWith(i *injection, o Options, name string, overrides config.InstanceOverrides) (err error) {
	c := config.Config{ReservedName: name, AutoApprovePermissions: o.AutoApprove}
	if i.config, err = c.NewInstanceConfig(overrides); err != nil {
		return err
	}
	settings := i.config.PipelineInstance()
	if i.pipeline, err = o.Pipelines(settings); err != nil {
		return err
	}
	dialect, _ := o.Dialects.For(settings)
	i.decoder = acp.NewDecoder(acp.Options{Reserved: name, Dialect: dialect})
	var beside *nets.Guard
	if len(r.gate.injections) > 0 {
		beside = r.gate.injections[0].guard
	}
	i.guard = nets.NewGuard(nets.Options{
		Reserved: name, Port: i.config.Port, Beside: beside, Unasked: r.report.unasked,
		Fired: func(f nets.Fired) { r.gate.fired(f); r.report.fired(f) },
	})
	return nil
}

// observer passes on what reaches an endpoint. The guard is there before anybody
// has a secret.
type observer struct{ injection *injection }

// Listed implements [endpoint.Observer].
func (o observer) Listed(id endpoint.SessionID, tools []string) {
	o.injection.guard.Listed(id, tools)
}

// Arrived implements [endpoint.Observer].
func (o observer) Arrived(id endpoint.SessionID, a endpoint.Arrival) {
	o.injection.guard.Arrived(id, a)
}
