package main

import (
	"context"
	"fmt"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/telemetry"
)

// books are what is kept of a run.
type books struct {
	audit     *audit.Log           // nil when none is kept
	telemetry *telemetry.Telemetry // nil when it is switched off
}

// openBooks opens the audit file, if there is to be one, and telemetry as the
// environment says.
func openBooks(a *app, file string) (b books, err error) {
	if b.telemetry, err = telemetry.New(context.Background(), telemetry.Options{Logger: a.logger, Version: hostVersion()}); err != nil {
		return books{}, usage(err.Error(), "unset the variable, or OTEL_SDK_DISABLED=true for no telemetry")
	}
	if file == "" {
		return b, nil
	}
	b.audit, err = audit.Open(file, audit.Options{Logger: a.logger, Dropped: b.telemetry.AuditDropped})
	if err != nil {
		_ = b.telemetry.Shutdown(context.Background()) // nothing was counted yet
		return books{}, usage("--audit: "+err.Error(), "give a file that can be written")
	}
	return b, nil
}

// close closes them when the agent is gone. An audit file that is not complete is
// a failure of the run; metrics that could not be sent are not.
func (b books) close(a *app, err error) error {
	if failure := b.audit.Close(context.Background()); failure != nil && err == nil {
		err = failed(fmt.Errorf("--audit: the file is not complete: %w", failure), "")
	}
	if failure := b.telemetry.Shutdown(context.Background()); failure != nil {
		a.logger.Warn("telemetry was not sent completely", "error", failure)
	}
	return err
}
