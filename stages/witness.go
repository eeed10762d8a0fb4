package stages

import (
	"context"

	"github.com/kandev/assent/pipeline"
)

// WitnessName is the name of the stage [Witness].
const WitnessName pipeline.Name = "witness"

// Reasons of [Witness].
const (
	ReasonWitnessed       pipeline.Reason = "injected_server_contacted"     // this session listed the tool at the injected server
	ReasonNothingProven   pipeline.Reason = "provenance_not_proven"         // a stage before objected, so there is nothing to witness
	ReasonNotContacted    pipeline.Reason = "injected_server_not_contacted" // this session never listed the injected server's tools
	ReasonToolNotOffered  pipeline.Reason = "tool_not_offered"              // the injected server offered no such tool to this session
	ReasonNoSessionSecret pipeline.Reason = "session_without_secret"        // a session never announced has no secret of its own to be seen by
)

// Witness asks whether the agent really talks to the injected server in this
// session: some agents drop it when a configuration of the user or the project
// has a server of the same name, and their frames look as always. It stands
// between [Provenance] and [Option] in the order of a host that has a live
// endpoint ([HostOrder]); the endpoint's record comes with the request, so that
// the stage stays pure.
type Witness struct{}

// WitnessFactory shares one stage among all instances.
func WitnessFactory() Factory { return Shared(WitnessName, Witness{}) }

// Name is [WitnessName].
func (Witness) Name() pipeline.Name { return WitnessName }

// Evaluate continues, with a reason to ask where the server was not seen.
func (Witness) Evaluate(_ context.Context, ev pipeline.Evaluation) (pipeline.Decision, error) {
	session := &ev.Request.Session
	switch {
	case !ev.Facts.Injected || ev.Facts.Identity.State() != pipeline.Named:
		return keep(ev, ReasonNothingProven), nil
	case !session.Announced:
		return keep(ev, ReasonNoSessionSecret), nil
	case !session.Contacted:
		return keep(ev, ReasonNotContacted), nil
	case !offers(session.OfferedTools, ev.Facts.Identity.Tool()):
		return keep(ev, ReasonToolNotOffered), nil
	}
	return pipeline.Decision{Verdict: pipeline.Continue, Reason: ReasonWitnessed}, nil
}

// offers looks for a tool among those that the endpoint offered.
func offers(tools []string, tool string) bool {
	for _, offered := range tools {
		if pipeline.FlatName(offered) == tool {
			return true
		}
	}
	return false
}
