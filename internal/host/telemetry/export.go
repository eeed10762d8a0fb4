package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/kandev/assent/internal/display"
)

// quiet keeps the OpenTelemetry library from writing to stderr by itself: it would
// write values of environment variables, and not in the format of the host's log.
// The library knows one logger per process.
func quiet(logger *slog.Logger) {
	otel.SetLogger(logr.Discard())
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		logger.Debug("telemetry", "error", trouble(err))
	}))
}

// health tells the log once when sending begins to fail and once when it works
// again.
type health struct {
	logger *slog.Logger
	what   string
	bad    atomic.Bool
}

// note takes the outcome of one attempt. The failure is handled with it.
func (h *health) note(err error) {
	switch {
	case err == nil:
		if h.bad.Swap(false) {
			h.logger.Info("telemetry is being sent again", "signal", h.what)
		}
	case !h.bad.Swap(true):
		h.logger.Error("telemetry cannot be sent; what cannot be sent is lost", "signal", h.what, "error", trouble(err))
	}
}

// spanExporter sends spans.
type spanExporter struct {
	sdktrace.SpanExporter
	health health
}

func newSpanExporter(ctx context.Context, logger *slog.Logger) (*spanExporter, error) {
	e, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, errors.New("telemetry: traces: " + trouble(err))
	}
	return &spanExporter{SpanExporter: e, health: health{logger: logger, what: "traces"}}, nil
}

// ExportSpans sends spans and reports how that went to the log.
func (e *spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	e.health.note(e.SpanExporter.ExportSpans(ctx, spans))
	return nil
}

// metricExporter sends metrics.
type metricExporter struct {
	sdkmetric.Exporter
	health health
}

func newMetricReader(ctx context.Context, logger *slog.Logger) (sdkmetric.Reader, error) {
	e, err := otlpmetrichttp.New(ctx)
	if err != nil {
		return nil, errors.New("telemetry: metrics: " + trouble(err))
	}
	return sdkmetric.NewPeriodicReader(&metricExporter{Exporter: e, health: health{logger: logger, what: "metrics"}}), nil
}

// Export sends metrics and reports how that went to the log.
func (e *metricExporter) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	e.health.note(e.Exporter.Export(ctx, data))
	return nil
}

// address matches what could hold a key of a receiver.
var address = regexp.MustCompile(`[a-z]+://\S+`)

// maxTrouble bounds what is said of an error, in bytes.
const maxTrouble = 200

// trouble says what went wrong without address, headers, or the receiver's answer:
// those come from the environment or from somebody else.
func trouble(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "the receiver does not answer in time"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return display.Line(op.Op+": "+op.Err.Error(), maxTrouble)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	text, _, _ := strings.Cut(err.Error(), "body:")
	text = address.ReplaceAllString(text, "the receiver:")
	return display.Line(strings.TrimRight(text, " ("), maxTrouble)
}
