package stages

import (
	"slices"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
)

// DefaultOrder is the order of the stages. A host that adds a stage writes its
// own list; there are no priorities and no other way to move a stage.
func DefaultOrder() pipeline.Order {
	return pipeline.Order{
		BlanketName,    // first: the person's own switch, it does not depend on what a request says
		IdentityName,   // before every reading of the tool: a supplied name is final
		DialectName,    // after identity, so that it can contradict a name but never replace it
		ProvenanceName, // needs the server's name; a host puts stages about live servers after it
		OptionName,     // the only automatic approval, so it stands behind all that may object
		PendingName,    // last: whatever got here is a person's to decide
	}
}

// HostOrder is the order of a host that has a live endpoint: the default one, with
// the witness right before the only stage that approves.
func HostOrder() pipeline.Order {
	order := DefaultOrder()
	return slices.Insert(order, slices.Index(order, OptionName), WitnessName)
}

// Builtin lists the factories of the stages in [DefaultOrder], for hosts without
// fx. Package wiring has the same lines for hosts with it.
func Builtin(set dialects.Set) []Factory {
	return []Factory{
		BlanketFactory(),
		IdentityFactory(),
		DialectFactory(set),
		ProvenanceFactory(),
		OptionFactory(set, DefaultNeverAutomatic()),
		PendingFactory(),
	}
}
