package console

import (
	"context"
	"fmt"
	"strings"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/telemetry"
)

// books are what is kept of a run.
type books struct {
	audit     *audit.Log           // nil when none is kept
	telemetry *telemetry.Telemetry // nil when it is switched off
}

// openBooks opens the audit file and the metrics' address, if there are to be any,
// and telemetry as the environment says.
func openBooks(o *Options) (b books, err error) {
	if b.telemetry, err = telemetry.New(context.Background(), telemetry.Options{Logger: o.Logger, Version: o.Version}); err != nil {
		return books{}, Usage(err.Error(), "unset the variable, or OTEL_SDK_DISABLED=true for no telemetry")
	}
	if o.Metrics != "" {
		address, err := b.telemetry.Serve(context.Background(), o.Metrics)
		if err != nil {
			_ = b.telemetry.Shutdown(context.Background()) // nothing was counted yet
			return books{}, Usage("--metrics: "+strings.TrimPrefix(err.Error(), "telemetry: "), "")
		}
		o.say("metrics are at http://" + address.String() + "/metrics")
	}
	if o.Audit == "" {
		return b, nil
	}
	b.audit, err = audit.Open(o.Audit, audit.Options{Logger: o.Logger, Dropped: b.telemetry.AuditDropped})
	if err != nil {
		_ = b.telemetry.Shutdown(context.Background()) // nothing was counted yet
		return books{}, Usage("--audit: "+err.Error(), "give a file that can be written")
	}
	return b, nil
}

// close closes them when the agent is gone. An audit file that is not complete is
// a failure of the run; metrics that could not be sent are not.
func (b books) close(o *Options, err error) error {
	if failure := b.audit.Close(context.Background()); failure != nil && err == nil {
		err = Failed(fmt.Errorf("--audit: the file is not complete: %w", failure), "")
	}
	if failure := b.telemetry.Shutdown(context.Background()); failure != nil {
		o.Logger.Warn("telemetry was not sent completely", "error", failure)
	}
	return err
}
