package main

import (
	"context"
	"fmt"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/telemetry"
)

// openBooks opens what is kept of the run: the audit file, and telemetry as the
// environment says.
func (h *host) openBooks() (err error) {
	if h.telemetry, err = telemetry.New(context.Background(), telemetry.Options{Logger: h.app.logger, Version: hostVersion()}); err != nil {
		return usage(err.Error(), "unset the variable, or OTEL_SDK_DISABLED=true for no telemetry")
	}
	if h.command.Audit == "" {
		return nil
	}
	h.audit, err = audit.Open(h.command.Audit, audit.Options{Logger: h.app.logger, Dropped: h.telemetry.AuditDropped})
	if err != nil {
		_ = h.telemetry.Shutdown(context.Background()) // nothing was counted yet
		return usage("--audit: "+err.Error(), "give a file that can be written")
	}
	return nil
}

// closeBooks closes them when the agent is gone. An audit file that is not
// complete is a failure of the run; metrics that could not be sent are not.
func (h *host) closeBooks(err error) error {
	if failure := h.audit.Close(context.Background()); failure != nil && err == nil {
		err = failed(fmt.Errorf("--audit: the file is not complete: %w", failure), "")
	}
	if failure := h.telemetry.Shutdown(context.Background()); failure != nil {
		h.app.logger.Warn("telemetry was not sent completely", "error", failure)
	}
	return err
}
