// Package dialects knows how single agents present the identity of a tool. Each
// dialect is one file and one corpus folder of captured frames; it is a pure
// function from a request to a claim. It never returns an identity or a verdict:
// the stages judge every claim by the same rules.
package dialects

import (
	"errors"

	"github.com/kandev/assent/pipeline"
)

// Dialect reads what one agent says about the tool behind a request.
type Dialect interface {
	// Agent is the configured agent id that this dialect belongs to.
	Agent() pipeline.Agent
	// Claim returns what the agent's frames say about the tool. [ErrAbsent] (or
	// an error that wraps it and names a reason) means that they say nothing;
	// every other error means that they are malformed or contradictory. Errors
	// are of type [Error], so that they carry a reason and nothing else.
	Claim(req *pipeline.Request) (pipeline.Claim, error)
}

// OptionHinter is implemented by dialects of agents that offer equal options.
type OptionHinter interface {
	Hint(req *pipeline.Request) pipeline.OptionHint
}

// Error is a named reason why a dialect made no claim. It is comparable and
// holds nothing from the request.
type Error struct {
	Reason pipeline.Reason
	// Absent says that the frames are silent, not wrong.
	Absent bool
}

// Error gives the reason.
func (e Error) Error() string { return "dialects: " + string(e.Reason) }

// Is makes every silent outcome match [ErrAbsent].
func (e Error) Is(target error) bool { return target == ErrAbsent && e.Absent }

// ErrAbsent says that the frames of a request say nothing about the tool.
var ErrAbsent = errors.New("dialects: nothing said about the tool")
