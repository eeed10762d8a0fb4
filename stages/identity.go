package stages

import (
	"context"

	"github.com/kandev/assent/pipeline"
)

// IdentityName is the name of the stage [Identity].
const IdentityName pipeline.Name = "identity"

// Reasons of [Identity]. A given name has the parser's own reason:
// [pipeline.ReasonQualified], or which way it is no qualified name.
const (
	ReasonNoToolCall    pipeline.Reason = "no_tool_call"       // the request is about no tool call
	ReasonContradictory pipeline.Reason = "contradictory_call" // the messages about the call do not agree
	ReasonNameAbsent    pipeline.Reason = "name_absent"        // the request has no programmatic name; the agent's messages may name the tool
	ReasonNameTooLong   pipeline.Reason = "name_too_long"      // the name is longer than any qualified name can be
	ReasonNameIsNoText  pipeline.Reason = "name_is_no_string"  // the name is of another JSON type than a string
)

// Identity reads the programmatic name of the tool call. A supplied name is
// final: when it is no qualified name, such as "Bash", then no title and no
// metadata can make the call one of an MCP server's.
type Identity struct{}

// IdentityFactory shares one stage among all instances.
func IdentityFactory() Factory { return Shared(IdentityName, Identity{}) }

// Name is [IdentityName].
func (Identity) Name() pipeline.Name { return IdentityName }

// Evaluate always continues; it learns an identity or why there is none.
func (Identity) Evaluate(_ context.Context, ev pipeline.Evaluation) (pipeline.Decision, error) {
	call := &ev.Request.Call
	if call.Contradictory {
		return refuse(ev, ReasonContradictory), nil
	}
	if call.OtherSubject {
		return keep(ev, ReasonNoToolCall), nil
	}
	switch call.Name.State() {
	case pipeline.TextAbsent:
		return pipeline.Decision{Verdict: pipeline.Continue, Reason: ReasonNameAbsent}, nil
	case pipeline.TextGiven:
		name, _ := call.Name.Value()
		return identify(ev, pipeline.ClaimName(name)), nil
	case pipeline.TextTooLong:
		d := keep(ev, ReasonNameTooLong)
		d.Learned.Identity = pipeline.OtherIdentity()
		return d, nil
	}
	return refuse(ev, ReasonNameIsNoText), nil
}
