// Package dialects knows how single agents present the identity of a tool. Each
// dialect is one file and one corpus folder of captured frames; it is a pure
// function from a request to a claim. It never returns an identity or a verdict:
// the stages judge every claim by the same rules.
//
// Adding an agent takes three things: a file with one type and its reasons, a
// folder testdata/<agent id> with captured frames and an agent.json, and a line
// in [All]. [Index] refuses to start when one of them is missing and names it.
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

// TitleReader is implemented by dialects that take a title for the tool's name
// where nothing else names it.
type TitleReader interface {
	// WithoutTitleFallback is the same dialect, reading no titles.
	WithoutTitleFallback() Dialect
}

// All lists the built-in dialects. The list is the registry; nothing registers
// itself. Most of them claim nothing: they say why their agent is always asked
// about, and their corpus shows the frames that are the reason.
func All() []Dialect {
	return []Dialect{
		NewClaude(), // name, _meta.claudeCode.toolName, or an old adapter's title
		NewCodex(),  // server and tool of the announced call, if both markers are there
		NewQwen(),   // the request's own _meta.toolName

		NewCline(),    // asks: ignores the servers of session/new
		NewCopilot(),  // asks: the server is not in the request
		NewGemini(),   // asks: the server is only in a display title
		NewKilocode(), // asks: one flat name for two servers
		NewOpencode(), // asks: one flat name for two servers
		NewPi(),       // asks: never by itself; extensions choose the title
		NewZedCodex(), // asks: server and tool are in the raw input only

		// Left out on purpose: agents of which no frames were captured (amp,
		// auggie, goose and others). A qualified name in a request needs no
		// dialect; everything else of theirs is asked about anyway.
	}
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

// flag reads a marker that has to be a JSON bool. Missing is false. Everything
// else, null too, is not well-formed: an adapter that sends it is none we know.
func flag(meta pipeline.Meta, key string) (set, wellFormed bool) {
	if meta.Given() && meta.Kind() != pipeline.MetaObject {
		return false, false
	}
	switch meta.Get(key).Kind() {
	case pipeline.MetaTrue:
		return true, true
	case pipeline.MetaAbsent, pipeline.MetaFalse:
		return false, true
	}
	return false, false
}

// absentOr says whether a value is missing or of the given kind. A null is there.
func absentOr(m pipeline.Meta, kind pipeline.MetaKind) bool {
	return m.Kind() == pipeline.MetaAbsent || m.Kind() == kind
}

// textIs says whether a value is exactly the given string.
func textIs(m pipeline.Meta, s string) bool {
	text, ok := m.Text()
	return ok && text == s
}
