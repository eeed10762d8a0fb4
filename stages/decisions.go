package stages

import "github.com/kandev/assent/pipeline"

// keep continues and says why the request is off the automatic path. Only the
// first such reason is kept: it is the one that a person can do something about.
func keep(ev pipeline.Evaluation, reason pipeline.Reason) pipeline.Decision {
	d := pipeline.Decision{Verdict: pipeline.Continue, Reason: reason}
	if ev.Facts.Kept == "" {
		d.Learned.Kept = reason
	}
	return d
}

// refuse keeps the request off the automatic path for good: nothing may identify
// its tool any more.
func refuse(ev pipeline.Evaluation, reason pipeline.Reason) pipeline.Decision {
	d := keep(ev, reason)
	d.Learned.Identity = pipeline.RefusedIdentity()
	return d
}

// identify learns the identity that a claim makes. A claim that names no tool of
// a server keeps the request off the automatic path, with the parser's reason.
func identify(ev pipeline.Evaluation, claim pipeline.Claim) pipeline.Decision {
	identity, reason := pipeline.NewIdentity(claim)
	d := pipeline.Decision{Verdict: pipeline.Continue, Reason: reason}
	if identity.State() != pipeline.Named {
		d = keep(ev, reason)
	}
	d.Learned.Identity = identity
	return d
}
