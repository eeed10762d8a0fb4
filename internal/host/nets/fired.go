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
	// Request is the host's id of that offer, or of the one whose call did not
	// arrive; empty when it is about neither.
	Request string
	Net     audit.Net
	Reason  pipeline.Reason
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

// Unasked says that a call ran and nobody had been asked about it.
type Unasked struct {
	// Session as the agent named it. Of a call that arrived it is the one whose
	// secret came with it, and empty for one that is only being made.
	Session string
	// Arrived says that the call reached the injected server. The agent reports any
	// other one as completed, so it ran elsewhere.
	Arrived bool
	// Tool of the injected server, if its name passed the parser.
	Tool pipeline.Identity
	// Kind of a call that ran elsewhere, as the agent says; empty for one that
	// arrived.
	Kind audit.Kind
}

// LogValue leaves out what the agent named the session.
func (u Unasked) LogValue() slog.Value {
	attrs := toolAttrs(u.Tool)
	if u.Kind != "" {
		attrs = append(attrs, slog.String("kind", string(u.Kind)))
	}
	return slog.GroupValue(attrs...)
}

func toolAttrs(id pipeline.Identity) []slog.Attr {
	if id.State() != pipeline.Named {
		return nil
	}
	return []slog.Attr{slog.String("server", id.Server()), slog.String("tool", id.Tool())}
}
