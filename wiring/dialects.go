package wiring

import (
	"go.uber.org/fx"

	"github.com/kandev/assent/dialects"
)

// Dialects registers the built-in dialects. Their literal list is [dialects.All];
// a line for each of them here would be one more to forget.
var Dialects = fx.Module("dialects",
	fx.Provide(fx.Annotate(dialects.All, fx.ResultTags(`group:"permission.dialects,flatten"`))),
)
