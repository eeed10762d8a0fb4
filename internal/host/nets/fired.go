package nets

import (
	"log/slog"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/pipeline"
)

// Fired says that one of the nets around the pipeline has fired.
type Fired struct {
	// Session as the agent named it.
	Session string
	// Number of the offer that a net kept off the automatic path; 0 when it is
	// about no offer.
	Number uint64
	Net    audit.Net
	Reason pipeline.Reason
	// Tool of the injected server, where it is about one.
	Tool pipeline.Identity
}

// LogValue leaves out what the agent named the session.
func (f Fired) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("net", string(f.Net)), slog.String("reason", string(f.Reason))}
	if f.Number > 0 {
		attrs = append(attrs, slog.Uint64("offer", f.Number))
	}
	return slog.GroupValue(append(attrs, toolAttrs(f.Tool)...)...)
}

// Unasked says that a call reached the injected server and nobody had been asked
// about it.
type Unasked struct {
	// Session whose secret came with the call, as the agent named it; empty for
	// one that is only being made.
	Session string
	// Tool, if its name passed the parser.
	Tool pipeline.Identity
}

// LogValue leaves out what the agent named the session.
func (u Unasked) LogValue() slog.Value { return slog.GroupValue(toolAttrs(u.Tool)...) }

func toolAttrs(id pipeline.Identity) []slog.Attr {
	if id.State() != pipeline.Named {
		return nil
	}
	return []slog.Attr{slog.String("server", id.Server()), slog.String("tool", id.Tool())}
}
