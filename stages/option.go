package stages

import (
	"context"
	"fmt"
	"slices"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
)

// OptionName is the name of the stage [Option].
const OptionName pipeline.Name = "option"

// Reasons of [Option]. An offer without one clear allow has the reason that
// [pipeline.LeastAllow] gives.
const (
	ReasonInjectedMCP       pipeline.Reason = "injected_mcp"              // a tool of the injected server, approved for this one call
	ReasonInjectedMCPAlways pipeline.Reason = "injected_mcp_allow_always" // a tool of the injected server; only allow_always was offered, and it can outlive the session
	ReasonNotInjected       pipeline.Reason = "not_injected"              // it is no tool of the injected server
	ReasonKeptBefore        pipeline.Reason = "kept_off_before"           // a tool of the injected server, but another stage objected
	ReasonNeverAutomatic    pipeline.Reason = "tool_never_automatic"      // the tool is one that a person always answers for
)

// NeverAutomatic lists tools of the injected server, by exact name, that are
// never approved automatically.
type NeverAutomatic []string

// DefaultNeverAutomatic lists the tools that show or answer permissions: an agent
// that may call them without a person answers its own requests.
func DefaultNeverAutomatic() NeverAutomatic {
	return NeverAutomatic{"list_pending_agent_permissions_kandev", "resolve_agent_permission_kandev"}
}

// Option selects the allow of the least reach for a tool of the injected server.
type Option struct {
	hinter dialects.OptionHinter // nil: this agent's options need no hint
	never  NeverAutomatic
}

// NewOption makes the stage of one instance; dialect may be nil. A name in never
// that no tool can have is an error: it would protect nothing.
func NewOption(instance pipeline.Instance, dialect dialects.Dialect, never NeverAutomatic) (*Option, error) {
	for _, tool := range never {
		if id, reason := pipeline.NewIdentity(pipeline.ClaimTool(pipeline.DefaultReservedName, tool)); id.State() != pipeline.Named {
			return nil, fmt.Errorf("never automatic tool %q: %s: no tool is ever identified by this name", tool, reason)
		}
	}
	s := &Option{never: slices.Clone(never)}
	if !instance.Guessed {
		s.hinter, _ = dialect.(dialects.OptionHinter)
	}
	return s, nil
}

// OptionFactory finds each instance's hints by its configured agent id.
func OptionFactory(set dialects.Set, never NeverAutomatic) Factory {
	return Factory{Name: OptionName, New: func(i pipeline.Instance) (pipeline.Stage, error) {
		d, _ := set.For(i)
		return NewOption(i, d, never)
	}}
}

// Name is [OptionName].
func (*Option) Name() pipeline.Name { return OptionName }

// Evaluate selects, or continues with the reason why it did not.
func (s *Option) Evaluate(_ context.Context, ev pipeline.Evaluation) (pipeline.Decision, error) {
	identity := ev.Facts.Identity
	switch {
	case !ev.Facts.Injected || identity.State() != pipeline.Named:
		return keep(ev, ReasonNotInjected), nil
	case ev.Facts.Kept != "":
		return keep(ev, ReasonKeptBefore), nil
	case slices.Contains(s.never, identity.Tool()):
		return keep(ev, ReasonNeverAutomatic), nil
	}
	var hint pipeline.OptionHint
	if s.hinter != nil {
		hint = s.hinter.Hint(ev.Request)
	}
	chosen, reason := pipeline.LeastAllow(ev.Request.Options, hint)
	if reason != pipeline.ReasonOptionChosen {
		return keep(ev, reason), nil
	}
	d := pipeline.Decision{Verdict: pipeline.Select, Option: chosen, Reason: ReasonInjectedMCP}
	if ev.Request.Options[chosen].Kind != pipeline.AllowOnce {
		d.Reason = ReasonInjectedMCPAlways
	}
	return d, nil
}
