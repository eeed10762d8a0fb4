// Package canary has no code of its own. Its test plants secrets wherever an
// agent, its model or a user can put one, runs them through the real manager,
// store, endpoint, audit log and telemetry, and then looks for them in everything
// that the host writes down: logs at debug level, audit records, metrics, traces,
// snapshots, errors. A second test removes the redactions one by one and wants
// the first one to notice each time.
package canary
