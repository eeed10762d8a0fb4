package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Names of the span and its events.
const (
	spanDecision = "permission decision"
	eventStage   = "stage"
	keyFailed    = attribute.Key("failed")
)

// span makes the span of a decision: the attributes of the metric, and an event
// for each stage that ran. The stages' times are not known, so their events stand
// at the end, in order.
func (t *Telemetry) span(ctx context.Context, d Decision, a attributes) {
	if t.tracer == nil {
		return
	}
	_, span := t.tracer.Start(ctx, spanDecision, trace.WithTimestamp(d.Start), trace.WithAttributes(a.list()...))
	end := d.Start.Add(max(0, d.Took))
	if span.IsRecording() {
		for _, step := range d.Result.Trace.Steps() {
			said := attributes{
				stage: t.labels.stage(step.Stage), verdict: verdict(step.Decision.Verdict), reason: t.labels.reason(step.Decision.Reason),
			}.list()
			if step.Err != nil { // of which the text stays here
				said = append(said, keyFailed.Bool(true))
			}
			span.AddEvent(eventStage, trace.WithTimestamp(end), trace.WithAttributes(said...))
		}
	}
	span.End(trace.WithTimestamp(end))
}
