package process

import (
	"context"
	"log/slog"

	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
	"github.com/kandev/assent/stages"
)

// ReasonSessionCancelled is a reason of the manager, with the verdict cancel: the
// turn was cancelled and the agent has not ended it yet. ACP wants every request
// of such a turn cancelled. An offer that finds no room in the store is cancelled
// with the store's reason.
const ReasonSessionCancelled = pending.ReasonSessionCancelled

// decidePermission is the automatic part of the decision, and runs before
// anything is allocated for a pending request. Blanket approval is the pipeline's
// first stage, the injected server's approval its fifth; a result that says Pend
// is a person's.
func decidePermission(ctx context.Context, p *pipeline.Pipeline, o *acp.Offer, cancelling bool) pipeline.Result {
	if cancelling {
		return cancelled(ReasonSessionCancelled)
	}
	return o.Decide(ctx, p)
}

// askWhenOver leaves to a person what would be approved for a task that has ended: every
// option that is not known to reject.
func askWhenOver(o *acp.Offer, r pipeline.Result) pipeline.Result {
	kind := selectedKind(r, o.Request.Options)
	if r.Decision.Verdict == pipeline.Select && kind != pipeline.RejectOnce && kind != pipeline.RejectAlways {
		r.Decision, r.Stage = pipeline.Decision{Verdict: pipeline.Pend, Reason: nets.ReasonTaskEnded}, nets.Stage
	}
	return r
}

func cancelled(reason pipeline.Reason) pipeline.Result {
	return pipeline.Result{Decision: pipeline.Decision{Verdict: pipeline.Cancel, Reason: reason}, Stage: nets.Stage}
}

// selectedKind is the kind of the option that a result selects.
func selectedKind(r pipeline.Result, options []pipeline.Option) string {
	if r.Decision.Verdict != pipeline.Select || r.Decision.Option >= len(options) {
		return ""
	}
	return options[r.Decision.Option].Kind
}

// logDecision writes the one record of a decision: reason, tool and option kind,
// and nothing else of what was asked.
func logDecision(log *slog.Logger, number uint64, r pipeline.Result, kind string) {
	level := slog.LevelInfo
	switch r.Decision.Reason {
	case stages.ReasonInjectedMCPAlways, // it can outlive the session
		pipeline.ReasonStageError, pipeline.ReasonStagePanic, pipeline.ReasonUnknownVerdict,
		pipeline.ReasonOptionNotOffered, pipeline.ReasonFactSetTwice, pipeline.ReasonNothingDecided:
		level = slog.LevelWarn
	}
	log.LogAttrs(context.Background(), level, "decision",
		slog.Uint64("offer", number), slog.Any("result", r), slog.String("option_kind", pipeline.KnownKind(kind)))
}
