package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/kandev/assent/pipeline"
)

// scope names this package to OpenTelemetry.
const scope = "github.com/kandev/assent/internal/host/telemetry"

// Options of a [Telemetry]. All of them may be left out.
type Options struct {
	// Logger is told when sending begins to fail and when it works again.
	Logger *slog.Logger
	// Version of the host.
	Version string
	// Agents, Stages and Reasons that a host has beside the built-in ones. They
	// become label values.
	Agents  []pipeline.Agent
	Stages  []pipeline.Name
	Reasons []pipeline.Reason
}

// Telemetry counts, times and traces. A nil Telemetry does nothing. It is safe
// for concurrent use.
type Telemetry struct {
	labels      labels
	instruments *instruments
	tracer      trace.Tracer // nil when spans go nowhere
	handler     http.Handler
	shutdowns   []func(context.Context) error

	once sync.Once // for the end
	err  error
}

// shutdownWithin bounds [Telemetry.Shutdown].
const shutdownWithin = 5 * time.Second

// New starts telemetry. These environment variables of the OpenTelemetry
// specification count:
//
//   - OTEL_EXPORTER_OTLP_ENDPOINT, and the same with TRACES or METRICS in front of
//     ENDPOINT: where to send to, such as http://localhost:4318. Setting one
//     switches sending on.
//   - OTEL_TRACES_EXPORTER and OTEL_METRICS_EXPORTER: "otlp" switches it on also
//     without an endpoint (then it is localhost:4318), "none" switches it off.
//     "prometheus" is accepted for metrics: they are always at the handler.
//   - OTEL_SDK_DISABLED=true: no telemetry at all. New then returns nil, which
//     does nothing.
//   - OTEL_EXPORTER_OTLP_HEADERS, _TIMEOUT, _COMPRESSION, _CERTIFICATE,
//     OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER,
//     OTEL_BSP_* and OTEL_METRIC_EXPORT_INTERVAL: as the specification says.
//
// The error names the variable that is wrong, and never its value.
func New(ctx context.Context, o Options) (*Telemetry, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	settings, err := readEnvironment()
	if err != nil || settings.disabled {
		return nil, err
	}
	quiet(o.Logger)
	about, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "assent"), attribute.String("service.version", o.Version)),
		resource.WithFromEnv(), // last: it wins
	)
	if err != nil { // its text may hold values
		return nil, errors.New("telemetry: OTEL_RESOURCE_ATTRIBUTES is not a list of key=value")
	}
	t := &Telemetry{labels: newLabels(o)}
	if err := t.startMetrics(ctx, o.Logger, about, settings); err != nil {
		return nil, errors.Join(err, t.Shutdown(ctx))
	}
	if err := t.startTraces(ctx, o.Logger, about, settings); err != nil {
		return nil, errors.Join(err, t.Shutdown(ctx))
	}
	return t, nil
}

func (t *Telemetry) startMetrics(ctx context.Context, logger *slog.Logger, about *resource.Resource, s settings) error {
	registry := prometheus.NewRegistry()
	scraped, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo())
	if err != nil {
		return fmt.Errorf("telemetry: metrics: %w", err)
	}
	options := []sdkmetric.Option{sdkmetric.WithResource(about), sdkmetric.WithReader(scraped)}
	if s.metrics {
		reader, err := newMetricReader(ctx, logger)
		if err != nil {
			return err
		}
		options = append(options, sdkmetric.WithReader(reader))
	}
	provider := sdkmetric.NewMeterProvider(options...)
	t.shutdowns = append(t.shutdowns, provider.Shutdown)
	t.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	t.instruments, err = newInstruments(provider.Meter(scope))
	return err
}

func (t *Telemetry) startTraces(ctx context.Context, logger *slog.Logger, about *resource.Resource, s settings) error {
	if !s.traces {
		return nil
	}
	exporter, err := newSpanExporter(ctx, logger)
	if err != nil {
		return err
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithBatcher(exporter))
	t.shutdowns = append(t.shutdowns, provider.Shutdown)
	t.tracer = provider.Tracer(scope)
	return nil
}

// Handler answers a scrape by Prometheus with the metrics. It opens nothing and
// checks nobody: where it is served is the host's decision.
func (t *Telemetry) Handler() http.Handler {
	if t == nil {
		return http.NotFoundHandler()
	}
	return t.handler
}

// Shutdown sends what has not been sent and ends. It takes at most five seconds,
// and no longer than ctx. After it every method does nothing, and it gives the
// same error again.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.once.Do(func() { t.err = t.shutdown(ctx) })
	return t.err
}

// shutdown ends everything at the same time. Each part gets its own five seconds,
// also when ctx ends before: with a context that has ended the library would not
// even stop its goroutines.
func (t *Telemetry) shutdown(ctx context.Context) error {
	ended := make(chan error, len(t.shutdowns))
	for _, shutdown := range t.shutdowns {
		go func() {
			own, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownWithin)
			defer cancel()
			ended <- shutdown(own)
		}()
	}
	var errs []error
	for range t.shutdowns {
		var err error
		select {
		case err = <-ended:
		case <-ctx.Done():
			return errors.Join(append(errs, fmt.Errorf("telemetry: not everything is sent yet: %w", context.Cause(ctx)))...)
		}
		if err != nil {
			errs = append(errs, errors.New("telemetry: not everything could be sent: "+trouble(err)))
		}
	}
	return errors.Join(errs...)
}
