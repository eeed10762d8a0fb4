package process

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/telemetry"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// Fired says that one of the nets around an instance has fired.
type Fired struct {
	Instance InstanceID
	nets.Fired
}

// Unasked says that an instance ran a call that nobody had been asked about.
type Unasked struct {
	Instance InstanceID
	nets.Unasked
}

// NetWatcher is implemented by a [Watcher] that wants to know when the nets around
// the pipeline fire. Both methods can be called at any time, by many goroutines.
type NetWatcher interface {
	// Fired is told once for each time that a net fires.
	Fired(ctx context.Context, f Fired)
	// Unasked must not block: the call waits for it.
	Unasked(ctx context.Context, u Unasked)
}

// origin says which offer a record is about.
func (i *Instance) origin(session string, request pending.RequestID) audit.Origin {
	return audit.Origin{Instance: string(i.id), Agent: pipeline.Agent(i.config.Agent), Task: i.from.Task, Session: session, Request: string(request)}
}

// taken is how long a decision took.
type taken struct {
	start time.Time
	took  time.Duration
}

// decided reports a decision: one log record, one audit record, the metrics, and
// the watcher. Request is the id of the offer: of one that waits, the one under
// which the store lists it.
func (i *Instance) decided(number uint64, request pending.RequestID, o *acp.Offer, read reading, r pipeline.Result, t taken) {
	m, kind := i.manager, selectedKind(r, o.Request.Options)
	logDecision(i.log, number, r, kind)
	from := i.origin(o.Request.SessionID, request)
	from.Kind = audit.CallKind(o.Request.Call.Kind)
	m.options.Audit.Append(audit.DecisionRecord(from, r, kind))
	m.options.Telemetry.Decision(i.ctx, telemetry.Decision{Agent: pipeline.Agent(i.config.Agent), Result: r, Start: t.start, Took: t.took})
	if r.Decision.Verdict == pipeline.Pend {
		m.options.Telemetry.OfferOpened(i.ctx, pipeline.Agent(i.config.Agent))
	}
	m.options.Watcher.Decided(i.ctx, Decided{
		Instance: i.id, Number: number, Request: request, Session: o.Request.SessionID, ToolCall: o.Request.Call.ID,
		Result: r, OptionKind: kind,
		action: sync.OnceValue(func() Action { return offerAction(read(), &o.Request, r.Facts.Identity) }),
	})
	i.nets.Noticed(number, string(request), o, r)
}

// answered reports how an offer ended, in the same places.
func (i *Instance) answered(w *openOffer, a Answered) {
	out := a.Outcome
	i.log.Info("answer", "offer", w.number, "outcome", out, "sent", a.Sent)
	from := i.origin(out.Key.Session, out.Key.Request)
	i.manager.options.Audit.Append(audit.Record{
		Event: audit.Answer, Instance: from.Instance, Agent: from.Agent, Task: from.Task, Session: from.Session, Request: from.Request,
		Verdict: out.Verdict, Reason: out.Reason, OptionKind: a.Option.Kind, Tool: w.identity, Kind: w.kind,
		By: out.By.Name, Surface: out.By.Surface, Waited: out.Waited,
	})
	i.manager.options.Telemetry.OfferClosed(i.ctx, from.Agent, out.Verdict, out.Waited)
	i.manager.options.Watcher.Answered(i.ctx, a)
}

// fired reports a net. The tripwire is loud: something ran elsewhere.
func (i *Instance) fired(f Fired) {
	level, text := slog.LevelWarn, "a net around the pipeline has fired"
	switch {
	case f.Reason == nets.ReasonTripwireFired:
		level, text = slog.LevelError, "an approved call never arrived at the injected server: this agent approves nothing by itself any more"
	case f.Net == audit.NeverAutomatic:
		level = slog.LevelInfo
	}
	i.log.Log(context.Background(), level, text, "net", f)
	from := i.origin(f.Session, pending.RequestID(f.Request))
	i.manager.options.Audit.Append(audit.Record{
		Event: audit.NetFired, Instance: from.Instance, Agent: from.Agent, Task: from.Task, Session: from.Session, Request: from.Request,
		Net: f.Net, Reason: f.Reason, Tool: f.Tool,
	})
	i.manager.options.Telemetry.NetFired(i.ctx, f.Net)
	if w, ok := i.manager.options.Watcher.(NetWatcher); ok {
		w.Fired(i.ctx, f)
	}
}

// unasked reports a call that nobody was asked about.
func (i *Instance) unasked(u Unasked) {
	level, text := slog.LevelInfo, "a tool call ran and nobody had been asked" // many agents do not ask before they read
	if u.Arrived {
		level, text = slog.LevelWarn, "a call reached the injected server and nobody had been asked"
	}
	i.log.Log(context.Background(), level, text, "call", u)
	from := i.origin(u.Session, "")
	i.manager.options.Audit.Append(audit.Record{
		Event: audit.Unasked, Instance: from.Instance, Agent: from.Agent, Task: from.Task, Session: from.Session, Tool: u.Tool, Kind: u.Kind,
	})
	i.manager.options.Telemetry.Unasked(i.ctx, from.Agent, 1)
	if w, ok := i.manager.options.Watcher.(NetWatcher); ok {
		w.Unasked(i.ctx, u)
	}
}
