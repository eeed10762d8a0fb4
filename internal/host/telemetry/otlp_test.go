package telemetry

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver is a real OTLP/HTTP receiver.
type receiver struct {
	*httptest.Server

	mu      sync.Mutex
	status  int // other than 200
	spans   []*tracev1.Span
	service string
	metrics []string
	headers http.Header
	paths   []string
	raw     strings.Builder
	got     chan struct{} // one for each request, as far as it has room
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{got: make(chan struct{}, 100)}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.paths = append(r.paths, q.URL.Path)
	r.headers = q.Header
	r.raw.Write(body)
	defer func() { r.got <- struct{}{} }()
	if r.status != 0 {
		http.Error(w, "you sent "+q.Header.Get("Authorization"), r.status)
		return
	}
	switch q.URL.Path {
	case "/v1/traces":
		var m collectortrace.ExportTraceServiceRequest
		if proto.Unmarshal(body, &m) == nil {
			for _, rs := range m.ResourceSpans {
				r.service = attributesOf(rs.Resource.Attributes)["service.name"]
				for _, ss := range rs.ScopeSpans {
					r.spans = append(r.spans, ss.Spans...)
				}
			}
		}
	case "/v1/metrics":
		var m collectormetrics.ExportMetricsServiceRequest
		if proto.Unmarshal(body, &m) == nil {
			for _, rm := range m.ResourceMetrics {
				for _, sm := range rm.ScopeMetrics {
					for _, metric := range sm.Metrics {
						r.metrics = append(r.metrics, metric.Name)
					}
				}
			}
		}
	}
}

func attributesOf(list []*common.KeyValue) map[string]string {
	m := map[string]string{}
	for _, kv := range list {
		m[kv.Key] = kv.Value.GetStringValue()
		if b, ok := kv.Value.Value.(*common.AnyValue_BoolValue); ok {
			m[kv.Key] = fmt.Sprint(b.BoolValue)
		}
	}
	return m
}

func TestOTLP(t *testing.T) {
	r := newReceiver(t)
	tel, out := start(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": r.URL, "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20" + secret, "OTEL_SERVICE_NAME": "mine",
	})
	tel.Decision(t.Context(), approved(t))
	tel.Decision(t.Context(), broken(t))
	require.NoError(t, tel.Shutdown(t.Context()))
	assert.Equal(t, "Bearer "+secret, r.headers.Get("Authorization"))
	assert.ElementsMatch(t, []string{"assent.decisions", "assent.decision.duration"}, r.metrics)
	assert.Equal(t, "mine", r.service)
	require.Len(t, r.spans, 2)
	span := r.spans[0]
	assert.Equal(t, "permission decision", span.Name)
	assert.Equal(t, map[string]string{"agent": "claude-acp", "verdict": "select", "stage": "option", "reason": "injected_mcp"}, attributesOf(span.Attributes))
	assert.EqualValues(t, 20_000, span.EndTimeUnixNano-span.StartTimeUnixNano)
	require.Len(t, span.Events, 2)
	assert.Equal(t, map[string]string{"verdict": "continue", "stage": "blanket", "reason": "no_blanket_approval"}, attributesOf(span.Events[0].Attributes))
	assert.Equal(t, map[string]string{"verdict": "select", "stage": "option", "reason": "injected_mcp"}, attributesOf(span.Events[1].Attributes))
	span = r.spans[1]
	assert.Equal(t, map[string]string{"agent": "other", "verdict": "pend", "stage": "other", "reason": "stage_error"}, attributesOf(span.Attributes))
	require.Len(t, span.Events, 1)
	assert.Equal(t, map[string]string{"verdict": "pend", "stage": "other", "reason": "stage_error", "failed": "true"}, attributesOf(span.Events[0].Attributes))
	assert.NotContains(t, r.raw.String(), secret, "neither agent id, nor stage, nor error text")
	assert.Empty(t, out.String())
}

// What is not asked for is not sent.
func TestSignalsByVariable(t *testing.T) {
	for name, c := range map[string]struct {
		variables map[string]string
		want      []string
	}{
		"nothing said":        {map[string]string{}, nil},
		"endpoint":            {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "URL"}, []string{"/v1/metrics", "/v1/traces"}},
		"endpoint of traces":  {map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "URL/t"}, []string{"/t"}},
		"endpoint of metrics": {map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "URL/m"}, []string{"/m"}},
		"traces off":          {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "URL", "OTEL_TRACES_EXPORTER": "none"}, []string{"/v1/metrics"}},
		"metrics scraped":     {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "URL", "OTEL_METRICS_EXPORTER": "prometheus"}, []string{"/v1/traces"}},
		"both ways":           {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "URL", "OTEL_METRICS_EXPORTER": "otlp, prometheus", "OTEL_TRACES_EXPORTER": "none"}, []string{"/v1/metrics"}},
		"not sampled":         {map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "URL/t", "OTEL_TRACES_SAMPLER": "always_off"}, nil},
		"protocol":            {map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "URL/t", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_TIMEOUT": "5000", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"}, []string{"/t"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReceiver(t)
			for k, v := range c.variables {
				c.variables[k] = strings.Replace(v, "URL", r.URL, 1)
			}
			tel, _ := start(t, c.variables)
			tel.Decision(t.Context(), approved(t))
			require.NoError(t, tel.Shutdown(t.Context()))
			assert.ElementsMatch(t, c.want, r.paths)
		})
	}
}

func TestWrongVariables(t *testing.T) {
	for variable, value := range map[string]string{
		"OTEL_TRACES_EXPORTER":                secret,
		"OTEL_METRICS_EXPORTER":               "otlp," + secret,
		"OTEL_EXPORTER_OTLP_ENDPOINT":         secret + ":4318",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT":  "http://%zz" + secret,
		"OTEL_EXPORTER_OTLP_HEADERS":          secret,
		"OTEL_EXPORTER_OTLP_METRICS_HEADERS":  "a=%" + secret,
		"OTEL_EXPORTER_OTLP_TIMEOUT":          secret,
		"OTEL_EXPORTER_OTLP_PROTOCOL":         "grpc",
		"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": secret,
		"OTEL_RESOURCE_ATTRIBUTES":            secret,
	} {
		t.Run(variable, func(t *testing.T) {
			variables := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
			variables[variable] = value
			setEnvironment(t, variables)
			_, err := New(t.Context(), Options{})
			require.Error(t, err)
			assert.Contains(t, err.Error(), "telemetry: ")
			assert.Contains(t, err.Error(), variable)
			assert.NotContains(t, err.Error(), secret)
		})
	}
	setEnvironment(t, map[string]string{"OTEL_TRACES_EXPORTER": "prometheus"})
	_, err := New(t.Context(), Options{})
	assert.ErrorContains(t, err, "OTEL_TRACES_EXPORTER is not supported: use otlp or none")
}

// A receiver that refuses is reported once, and again when it takes what it gets.
// Neither its answer nor its address is repeated: both could hold a key.
func TestReceiverFails(t *testing.T) {
	r := newReceiver(t)
	r.status = http.StatusUnauthorized
	tel, out := start(t, map[string]string{
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": r.URL + "/" + secret, "OTEL_EXPORTER_OTLP_HEADERS": "authorization=" + secret,
		"OTEL_BSP_SCHEDULE_DELAY": "1",
	})
	for range 2 {
		tel.Decision(t.Context(), approved(t))
		<-r.got
	}
	r.mu.Lock()
	r.status = 0
	r.mu.Unlock()
	tel.Decision(t.Context(), approved(t))
	<-r.got
	require.NoError(t, tel.Shutdown(t.Context()))
	assert.Equal(t, 1, strings.Count(out.String(), "level=ERROR"), out.String())
	assert.Contains(t, out.String(), `signal=traces error="traces export: failed to send to the receiver: 401 Unauthorized"`)
	assert.Equal(t, 1, strings.Count(out.String(), "being sent again"))
	assert.NotContains(t, out.String(), secret)
}

func TestReceiverMissing(t *testing.T) {
	r := newReceiver(t)
	r.Close()
	tel, out := start(t, map[string]string{
		"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": r.URL + "/" + secret, "OTEL_EXPORTER_OTLP_TIMEOUT": "200",
	})
	tel.Decision(t.Context(), approved(t))
	_ = tel.Shutdown(t.Context())
	assert.Equal(t, 1, strings.Count(out.String(), "level=ERROR"), out.String())
	assert.NotContains(t, out.String(), secret)
	assert.NotContains(t, out.String(), "127.0.0.1")
}

// A receiver that never answers stops neither a decision nor the host.
func TestReceiverHangs(t *testing.T) {
	arrived, release := make(chan struct{}, 10), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		arrived <- struct{}{}
		<-release
	}))
	defer server.Close()
	defer close(release)
	tel, _ := start(t, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": server.URL, "OTEL_BSP_SCHEDULE_DELAY": "1"})
	tel.Decision(t.Context(), approved(t))
	<-arrived
	for range 10_000 { // more than the library keeps
		tel.Decision(t.Context(), approved(t))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Error(t, tel.Shutdown(ctx))
}

func TestTrouble(t *testing.T) {
	for text, want := range map[string]string{
		"failed to send to http://x/k: 401 Unauthorized (body: " + secret + ")": "failed to send to the receiver: 401 Unauthorized",
		"retry-able request failure: body: " + secret:                           "retry-able request failure:",
		"a\x1b[31m\nb": `a\x1b[31m\nb`,
	} {
		assert.Equal(t, want, trouble(fmt.Errorf("%s", text)))
	}
	assert.Equal(t, "the receiver does not answer in time", trouble(fmt.Errorf("x: %w", context.DeadlineExceeded)))
}
