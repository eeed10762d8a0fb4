package wiring

import (
	"go.uber.org/fx"

	"github.com/kandev/assent/stages"
)

// Stages registers the built-in stages, one line each. The lines are in no
// particular order: only [stages.DefaultOrder] says who comes first.
var Stages = fx.Module("stages",
	AsStage(stages.BlanketFactory),
	AsStage(stages.IdentityFactory),
	AsStage(stages.DialectFactory),
	AsStage(stages.ProvenanceFactory),
	AsStage(stages.OptionFactory),
	AsStage(stages.PendingFactory),
)
