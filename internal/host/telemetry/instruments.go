package telemetry

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/pipeline"
)

// Names of the attributes, in metrics and spans.
const (
	keyAgent   = attribute.Key("agent")
	keyVerdict = attribute.Key("verdict")
	keyStage   = attribute.Key("stage")
	keyReason  = attribute.Key("reason")
	keyNet     = attribute.Key("net")
)

// instruments are all metrics. Prometheus shows them as
// assent_decisions_total, assent_decision_duration_seconds, assent_offers_open,
// assent_offer_wait_seconds, assent_nets_fired_total,
// assent_tool_calls_unasked_total and assent_audit_records_dropped_total.
type instruments struct {
	decisions metric.Int64Counter
	deciding  metric.Float64Histogram
	open      metric.Int64UpDownCounter
	waiting   metric.Float64Histogram
	nets      metric.Int64Counter
	unasked   metric.Int64Counter
	dropped   metric.Int64Counter

	sets sync.Map // of attributes that were used before
}

// Bounds of the histograms, in seconds: a decision takes microseconds, a person
// anything up to days.
var (
	decidingBounds = []float64{1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 1e-2, 0.1, 1}
	waitingBounds  = []float64{0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 4 * 3600, 12 * 3600, 24 * 3600}
)

func newInstruments(m metric.Meter) (i *instruments, err error) {
	i = &instruments{}
	errs := make([]error, 7)
	i.decisions, errs[0] = m.Int64Counter("assent.decisions", metric.WithDescription("Permission requests that were decided, or that a person is asked about (verdict pend)."))
	i.deciding, errs[1] = m.Float64Histogram("assent.decision.duration", metric.WithUnit("s"), metric.WithDescription("How long the pipeline took."), metric.WithExplicitBucketBoundaries(decidingBounds...))
	i.open, errs[2] = m.Int64UpDownCounter("assent.offers.open", metric.WithDescription("Permission requests that wait for a person now."))
	i.waiting, errs[3] = m.Float64Histogram("assent.offer.wait", metric.WithUnit("s"), metric.WithDescription("How long a permission request waited until it was over."), metric.WithExplicitBucketBoundaries(waitingBounds...))
	i.nets, errs[4] = m.Int64Counter("assent.nets.fired", metric.WithDescription("Times that a net around the pipeline has fired."))
	i.unasked, errs[5] = m.Int64Counter("assent.tool_calls.unasked", metric.WithDescription("Tool calls that ran without having been asked for."))
	i.dropped, errs[6] = m.Int64Counter("assent.audit.records.dropped", metric.WithDescription("Audit records that are lost."))
	return i, errors.Join(errs...)
}

// attributes are the closed values of one measurement. Unused ones are empty.
type attributes struct{ agent, verdict, stage, reason, net string }

func (a attributes) list() (list []attribute.KeyValue) {
	for _, kv := range []attribute.KeyValue{
		keyAgent.String(a.agent), keyVerdict.String(a.verdict), keyStage.String(a.stage), keyReason.String(a.reason), keyNet.String(a.net),
	} {
		if kv.Value.AsString() != "" {
			list = append(list, kv)
		}
	}
	return list
}

// option makes an option of attributes once: there are few different ones.
func (i *instruments) option(a attributes) metric.MeasurementOption {
	if o, ok := i.sets.Load(a); ok {
		return o.(metric.MeasurementOption)
	}
	o := metric.WithAttributeSet(attribute.NewSet(a.list()...))
	i.sets.Store(a, o)
	return o
}

// Decision is what the pipeline said about one permission request.
type Decision struct {
	// Agent is the id that the instance was configured with.
	Agent  pipeline.Agent
	Result pipeline.Result
	// Start of the decision, and how long it took.
	Start time.Time
	Took  time.Duration
}

// Decision counts and times a decision, and makes a span of it where spans are
// sent. A span in ctx is its parent.
func (t *Telemetry) Decision(ctx context.Context, d Decision) {
	if t == nil {
		return
	}
	a := attributes{agent: t.labels.agent(d.Agent), verdict: verdict(d.Result.Decision.Verdict)}
	took := t.instruments.option(a)
	a.stage, a.reason = t.labels.stage(d.Result.Stage), t.labels.reason(d.Result.Decision.Reason)
	t.instruments.decisions.Add(ctx, 1, t.instruments.option(a))
	t.instruments.deciding.Record(ctx, max(0, d.Took.Seconds()), took)
	t.span(ctx, d, a)
}

// OfferOpened counts a permission request that waits for a person from now on.
// [Telemetry.OfferClosed] has to follow, with the same agent.
func (t *Telemetry) OfferOpened(ctx context.Context, agent pipeline.Agent) {
	if t != nil {
		t.instruments.open.Add(ctx, 1, t.instruments.option(attributes{agent: t.labels.agent(agent)}))
	}
}

// OfferClosed counts a permission request that waited and is over: selected or
// cancelled.
func (t *Telemetry) OfferClosed(ctx context.Context, agent pipeline.Agent, v pipeline.Verdict, waited time.Duration) {
	if t == nil {
		return
	}
	a := attributes{agent: t.labels.agent(agent)}
	t.instruments.open.Add(ctx, -1, t.instruments.option(a))
	a.verdict = verdict(v)
	t.instruments.waiting.Record(ctx, max(0, waited.Seconds()), t.instruments.option(a))
}

// NetFired counts that a net has fired.
func (t *Telemetry) NetFired(ctx context.Context, n audit.Net) {
	if t != nil {
		t.instruments.nets.Add(ctx, 1, t.instruments.option(attributes{net: netName(n)}))
	}
}

// Unasked counts tool calls that ran without having been asked for.
func (t *Telemetry) Unasked(ctx context.Context, agent pipeline.Agent, calls int) {
	if t != nil && calls > 0 {
		t.instruments.unasked.Add(ctx, int64(calls), t.instruments.option(attributes{agent: t.labels.agent(agent)}))
	}
}

// AuditDropped counts audit records that are lost. It fits [audit.Options].
func (t *Telemetry) AuditDropped(records int) {
	if t != nil && records > 0 {
		t.instruments.dropped.Add(context.Background(), int64(records))
	}
}
