package telemetry

import (
	"errors"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// settings are what the environment says about sending.
type settings struct {
	disabled        bool
	traces, metrics bool
}

// signal is one kind of telemetry as the variables name it.
type signal string

const (
	traces  signal = "TRACES"
	metrics signal = "METRICS"
)

// readEnvironment reads the variables of the OpenTelemetry specification that
// choose whether and how to send. What the exporters read themselves is checked
// here: they would only log what is wrong, with its value, and go on.
func readEnvironment() (s settings, err error) {
	if s.disabled = strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true"); s.disabled {
		return s, nil
	}
	var errTraces, errMetrics error
	s.traces, errTraces = wanted(traces)
	s.metrics, errMetrics = wanted(metrics)
	if err := errors.Join(errTraces, errMetrics); err != nil || !s.traces && !s.metrics {
		return s, err
	}
	return s, errors.Join(checkAll("ENDPOINT", isEndpoint), checkAll("HEADERS", isHeaders), checkAll("TIMEOUT", isNumber), checkAll("PROTOCOL", isProtocol))
}

// wanted says whether a signal is to be sent.
func wanted(s signal) (bool, error) {
	name := "OTEL_" + string(s) + "_EXPORTER"
	value := strings.TrimSpace(os.Getenv(name))
	if value == "" {
		return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_"+string(s)+"_ENDPOINT") != "", nil
	}
	otlp := false
	for exporter := range strings.SplitSeq(value, ",") {
		switch strings.TrimSpace(exporter) {
		case "otlp":
			otlp = true
		case "none":
		case "prometheus":
			if s != metrics {
				return false, wrong(name, "use otlp or none")
			}
		default:
			return false, wrong(name, "use otlp or none")
		}
	}
	return otlp, nil
}

// checkAll checks a variable in its three forms: for both signals and for each.
func checkAll(name string, check func(string) (good bool, way string)) error {
	var errs []error
	for _, prefix := range []string{"OTEL_EXPORTER_OTLP_", "OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_METRICS_"} {
		value := strings.TrimSpace(os.Getenv(prefix + name))
		if value == "" {
			continue
		}
		if good, way := check(value); !good {
			errs = append(errs, wrong(prefix+name, way))
		}
	}
	return errors.Join(errs...)
}

// wrong names a variable and the way out, without the value: it could be a secret.
func wrong(variable, way string) error {
	return errors.New("telemetry: the value of " + variable + " is not supported: " + way)
}

func isEndpoint(value string) (bool, string) {
	u, err := url.Parse(value)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "", "write it like http://localhost:4318"
}

func isHeaders(value string) (bool, string) {
	for header := range strings.SplitSeq(value, ",") {
		name, text, ok := strings.Cut(header, "=")
		_, err := url.PathUnescape(text)
		if !ok || err != nil || !isToken(strings.TrimSpace(name)) {
			return false, "write it like name=value,name=value, with % escapes in values"
		}
	}
	return true, ""
}

// isToken says whether s can be the name of a header.
func isToken(s string) bool {
	for _, c := range s {
		if c <= ' ' || c >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, c) {
			return false
		}
	}
	return s != ""
}

func isNumber(value string) (bool, string) {
	_, err := strconv.ParseUint(value, 10, 31)
	return err == nil, "it is a number of milliseconds"
}

func isProtocol(value string) (bool, string) {
	return value == "http/protobuf", "only http/protobuf is built in; receivers take it on port 4318"
}
