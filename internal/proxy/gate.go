package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
	"github.com/kandev/assent/stages"
)

// injection is one injected server and what decides its calls. Without any
// injected server there is one all the same, which trusts nothing.
type injection struct {
	config   config.InstanceConfig
	endpoint *endpoint.Endpoint // nil: nothing is injected
	guard    *nets.Guard
	decoder  *acp.Decoder
	pipeline *pipeline.Pipeline

	mu      sync.Mutex
	secrets map[string]*endpoint.Session // in force, by ACP session
}

// gate decides: one injection after the other. What belongs to one of them, its
// port, its secrets and its nets, is nothing to another one.
type gate struct {
	injections []*injection
	recorder   Recorder // may be nil
	log        *slog.Logger
	tripped    atomic.Bool // the nets of one of them have fired the tripwire

	// tap keeps decoders and recorder at one order of both directions.
	tap          sync.Mutex
	recordBroken bool
	messages     []acp.Message // of the line at hand, one per injection
}

// fromAgent takes a line of the agent. It is the same message to every injection,
// with an offer and alarms of its own for each of them, valid until the next line.
func (g *gate) fromAgent(line []byte) ([]acp.Message, error) {
	g.tap.Lock()
	defer g.tap.Unlock()
	if g.recorder != nil {
		g.recorded(g.recorder.Agent(line))
	}
	var err error
	g.messages = g.messages[:0]
	for _, i := range g.injections {
		var m acp.Message
		m, err = i.decoder.FromAgent(line)
		g.messages = append(g.messages, m)
	}
	return g.messages, err
}

// fromClient takes a line to the agent, before it is written. The authorizations
// are those that the injected entries in it carry; nil for none.
func (g *gate) fromClient(line []byte, authorizations []string) {
	g.tap.Lock()
	defer g.tap.Unlock()
	if g.recorder != nil {
		g.recorded(g.recorder.Client(line))
	}
	for n, i := range g.injections {
		authorization := ""
		if authorizations != nil {
			authorization = authorizations[n]
		}
		_, _ = i.decoder.FromClient(line, authorization) // what is no message was looked at before
	}
}

// own records a line of our own to the agent. It tells the decoders nothing.
func (g *gate) own(line []byte) {
	g.tap.Lock()
	defer g.tap.Unlock()
	if g.recorder != nil {
		g.recorded(g.recorder.Client(line))
	}
}

// recorded reports the first failure. A recording never stops anything.
func (g *gate) recorded(err error) {
	if err != nil && !g.recordBroken {
		g.recordBroken = true
		g.log.Error("the recording failed and is not complete", "error", err)
	}
}

// decide asks the pipelines of all injections. The first one that decides does;
// otherwise the person is told the reason of the one that the tool is of. While
// something holds the automatic path back, nothing is selected.
func (g *gate) decide(ctx context.Context, messages []acp.Message, held pipeline.Reason) (*injection, *acp.Offer, pipeline.Result) {
	best, result := 0, pipeline.Result{}
	for n, i := range g.injections {
		o := messages[n].Offer
		i.guard.Witness(&o.Request)
		r := i.guard.Check(o, g.holdBack(o.Decide(ctx, i.pipeline), held))
		id := r.Facts.Identity
		if n == 0 || r.Decision.Verdict != pipeline.Pend || id.State() == pipeline.Named && id.Server() == i.config.ReservedName {
			best, result = n, r
		}
		if r.Decision.Verdict != pipeline.Pend {
			break
		}
	}
	for n, i := range g.injections[best+1:] { // the nets know of every offer
		o := messages[best+1+n].Offer
		if i.guard.Check(o, pipeline.Result{}); result.Decision.Verdict == pipeline.Select {
			i.guard.Allowed(o, result.Facts.Identity, result.Decision.Option)
		}
	}
	return g.injections[best], messages[best].Offer, result
}

// holdBack turns a selection into a question while something is in its way: that
// which holds everything back, or the tripwire of whichever injection, which is no
// matter to blanket approval.
func (g *gate) holdBack(r pipeline.Result, held pipeline.Reason) pipeline.Result {
	if held == "" && r.Stage != stages.BlanketName && g.tripped.Load() {
		held = nets.ReasonTripwireFired
	}
	if held != "" && r.Decision.Verdict == pipeline.Select {
		r.Decision, r.Stage = pipeline.Decision{Verdict: pipeline.Pend, Reason: held}, nets.Stage
	}
	return r
}

// fired notes what a net says that is for every injection.
func (g *gate) fired(f nets.Fired) {
	if f.Reason == nets.ReasonTripwireFired {
		g.tripped.Store(true)
	}
}

// grant is a secret that was made for a session request.
type grant struct {
	injection *injection
	secret    *endpoint.Session
}

// grants are what one session request carries: one entry, authorization and secret
// per injected server that the agent can take.
type grants struct {
	entries        []jsontext.Value
	names          []string
	authorizations []string // by injection; empty where nothing is injected
	list           []grant
	warnings       []config.Warning
}

// grant makes the secrets for one session request.
func (g *gate) grant(caps config.MCPCapabilities) (out grants, err error) {
	out.authorizations = make([]string, len(g.injections))
	for n, i := range g.injections {
		if i.endpoint == nil {
			continue
		}
		secret, err := i.endpoint.NewSession()
		if err != nil {
			revoke(out.list)
			return grants{}, err
		}
		i.guard.Expect(secret.ID())
		out.list = append(out.list, grant{i, secret})
		servers, err := i.config.SessionServers(caps, secret.Authorization())
		if err != nil {
			revoke(out.list)
			return grants{}, err
		}
		out.warnings = append(out.warnings, servers.Warnings...)
		if servers.Injected == "" { // the agent takes neither transport
			revoke(out.list[len(out.list)-1:])
			out.list = out.list[:len(out.list)-1]
			continue
		}
		entry, err := servers.Servers[0].MarshalJSON()
		if err != nil {
			revoke(out.list)
			return grants{}, err
		}
		if g.recorder != nil {
			g.recorder.Hide(secret.Authorization()[len("Bearer "):])
		}
		out.names = append(out.names, i.config.ReservedName)
		out.entries, out.authorizations[n] = append(out.entries, entry), servers.Authorization
	}
	return out, nil
}

// revoke ends secrets that no session has.
func revoke(list []grant) {
	for _, s := range list {
		s.injection.guard.Forget(s.secret.ID())
		s.injection.endpoint.Revoke(s.secret)
	}
}

// bind says whose the secrets are from now on. Earlier ones of the session end.
func (g *gate) bind(list []grant, session string) {
	for _, s := range list {
		i := s.injection
		i.guard.Bind(s.secret.ID(), session)
		i.mu.Lock()
		earlier := i.secrets[session]
		i.secrets[session] = s.secret
		i.mu.Unlock()
		if earlier != nil {
			i.guard.Forget(earlier.ID())
			i.endpoint.Revoke(earlier)
		}
	}
}

// unbind ends the secrets of a session that was closed.
func (g *gate) unbind(session string) {
	for _, i := range g.injections {
		i.mu.Lock()
		secret := i.secrets[session]
		delete(i.secrets, session)
		i.mu.Unlock()
		if secret != nil {
			revoke([]grant{{i, secret}})
		}
	}
}

// each calls f for the nets of every injection.
func (g *gate) each(f func(*nets.Guard)) {
	for _, i := range g.injections {
		f(i.guard)
	}
}

// injects says whether there is anything to inject.
func (g *gate) injects() bool { return g.injections[0].endpoint != nil }

// close ends the endpoints.
func (g *gate) close() error {
	var errs []error
	for _, i := range g.injections {
		if i.endpoint != nil {
			errs = append(errs, i.endpoint.Close())
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	return nil
}
