// Package telemetry counts and times what a host decides, with OpenTelemetry.
//
// Metrics are there for Prometheus, at [Telemetry.Handler] for a host with a server
// of its own and at [Telemetry.Serve] for one without, and go to an OTLP receiver when the standard environment variables say
// so. So do traces: one span per decision, with one event per stage. Without such
// a variable nothing is sent anywhere. OTLP is spoken over HTTP with protobuf;
// what the variables say is listed at [New].
//
// Whatever an agent or a person could choose is turned into a value of a closed
// set before it becomes an attribute: an agent id without a dialect, a reason
// that no constant of this module has, a stage that is not in the host's order
// are all "other". There is no session, no tool, no text of a request in any
// metric or span, and an agent cannot make the number of time series grow.
//
// Errors of receivers are logged when they begin and when they end, without
// address, headers or what the receiver said. Nothing here blocks a decision.
package telemetry
