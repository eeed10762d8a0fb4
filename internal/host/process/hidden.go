package process

import (
	"fmt"
	"log/slog"
)

// What a watcher is told holds text of the agent. Whoever logs or prints it as a
// whole gets no more than this.

// Format says which instance sent the update.
func (u Update) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "update of instance %s", u.Instance)
}

// LogValue says which instance sent the update.
func (u Update) LogValue() slog.Value {
	return slog.GroupValue(slog.String("instance", string(u.Instance)))
}

// Format hides the view.
func (v View) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, "(an update, hidden)") }

// LogValue hides the view.
func (v View) LogValue() slog.Value { return slog.StringValue("(hidden)") }

// Format says which offer it is.
func (d Decided) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "decision %d of instance %s", d.Number, d.Instance)
}

// LogValue holds the result.
func (d Decided) LogValue() slog.Value {
	return slog.GroupValue(slog.String("instance", string(d.Instance)), slog.Uint64("offer", d.Number), slog.Any("result", d.Result))
}

// Format says which offer it is.
func (a Answered) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "answer %d of instance %s", a.Number, a.Instance)
}

// LogValue holds the outcome.
func (a Answered) LogValue() slog.Value {
	return slog.GroupValue(slog.String("instance", string(a.Instance)), slog.Uint64("offer", a.Number), slog.Any("outcome", a.Outcome), slog.Bool("sent", a.Sent))
}
