package stages

import (
	"context"
	"errors"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
)

// DialectName is the name of the stage [Dialect].
const DialectName pipeline.Name = "dialect"

// Reasons of [Dialect]. When a dialect makes no claim its own reason is given; a
// claim that is no qualified name has the parser's.
const (
	ReasonAlreadyRefused  pipeline.Reason = "identity_refused_before" // the name was refused, and nothing that the agent's messages say could mend that
	ReasonNothingToRead   pipeline.Reason = "no_call_for_a_dialect"   // the request is about no tool call
	ReasonNoDialect       pipeline.Reason = "agent_without_dialect"   // the messages of this agent are not understood
	ReasonGuessedAgent    pipeline.Reason = "agent_not_configured"    // the agent's id is guessed, and a guessed one never identifies a tool
	ReasonClaimIdentifies pipeline.Reason = "dialect_identified"      // the agent's messages name the tool
	ReasonClaimAgrees     pipeline.Reason = "dialect_agrees"          // the agent's messages give the same name as the request; that alone says nothing of whose tool it is
	ReasonClaimDisagrees  pipeline.Reason = "dialect_contradicts"     // the agent's messages name another tool than the name does
	ReasonDialectSilent   pipeline.Reason = "dialect_silent"          // the agent's messages name no tool, and nothing says why
	ReasonDialectFailed   pipeline.Reason = "dialect_failed"          // the agent's messages about the tool are malformed
)

// Dialect asks the dialect of the configured agent what the frames say about the
// tool. The dialect only claims; whether the claim is an identity is judged here,
// by the same parser as a supplied name. It runs for a known identity too, since
// frames that contradict each other identify nothing.
type Dialect struct {
	dialect dialects.Dialect // nil: this agent has none
	guessed bool
}

// NewDialect makes the stage of one instance; dialect may be nil.
func NewDialect(instance pipeline.Instance, dialect dialects.Dialect) *Dialect {
	return &Dialect{dialect: dialect, guessed: instance.Guessed}
}

// DialectFactory finds each instance's dialect by its configured agent id.
func DialectFactory(set dialects.Set) Factory {
	return PerInstance(DialectName, func(i pipeline.Instance) *Dialect {
		d, _ := set.For(i)
		return NewDialect(i, d)
	})
}

// Name is [DialectName].
func (*Dialect) Name() pipeline.Name { return DialectName }

// Evaluate always continues; it learns an identity, or refuses the one there is.
func (s *Dialect) Evaluate(_ context.Context, ev pipeline.Evaluation) (pipeline.Decision, error) {
	known := ev.Facts.Identity
	switch {
	case known.State() == pipeline.Refused:
		return pipeline.Decision{Verdict: pipeline.Continue, Reason: ReasonAlreadyRefused}, nil
	case ev.Request.Call.OtherSubject:
		return keep(ev, ReasonNothingToRead), nil
	case s.dialect == nil:
		return silent(ev, ReasonNoDialect), nil
	}
	claim, err := s.dialect.Claim(ev.Request)
	switch {
	case err != nil:
		return unclaimed(ev, err), nil
	case known.State() != pipeline.Unknown:
		return compare(ev, claim), nil
	case s.guessed: // it explains, and it may contradict, but it never identifies
		return silent(ev, ReasonGuessedAgent), nil
	}
	d := identify(ev, claim)
	if d.Learned.Identity.State() == pipeline.Named {
		d.Reason = ReasonClaimIdentifies
	}
	return d, nil
}

// silent: the frames add nothing. That matters only when nobody knows the tool.
func silent(ev pipeline.Evaluation, reason pipeline.Reason) pipeline.Decision {
	if ev.Facts.Identity.State() == pipeline.Unknown {
		return keep(ev, reason)
	}
	return pipeline.Decision{Verdict: pipeline.Continue, Reason: reason}
}

func unclaimed(ev pipeline.Evaluation, err error) pipeline.Decision {
	said, _ := errors.AsType[dialects.Error](err)
	switch absent := errors.Is(err, dialects.ErrAbsent); {
	case absent && said.Reason == "":
		return silent(ev, ReasonDialectSilent)
	case absent:
		return silent(ev, said.Reason)
	case said.Reason == "":
		return refuse(ev, ReasonDialectFailed)
	}
	return refuse(ev, said.Reason)
}

// compare holds a claim against the identity that the supplied name made. Names
// that are no qualified names all make the same identity, so there the text
// itself has to be equal: "Bash" does not confirm "Edit".
func compare(ev pipeline.Evaluation, claim pipeline.Claim) pipeline.Decision {
	name, given := ev.Request.Call.Name.Value()
	agrees := given && claim.Names(name)
	if !agrees && ev.Facts.Identity.State() == pipeline.Named {
		identity, _ := pipeline.NewIdentity(claim)
		agrees = identity == ev.Facts.Identity
	}
	if !agrees {
		return refuse(ev, ReasonClaimDisagrees)
	}
	return pipeline.Decision{Verdict: pipeline.Continue, Reason: ReasonClaimAgrees}
}
