// Package newdialect shows everything that a dialect of your own takes: this
// file, captured frames in testdata with their test, and one line where the host
// composes (here examples/fx).
package newdialect

import (
	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
)

// The reasons, one for every way to make no claim.
const (
	ReasonParrotSilent    pipeline.Reason = "parrot_silent"    // nothing said: not an MCP tool
	ReasonParrotMalformed pipeline.Reason = "parrot_malformed" // types that no version sends
	ReasonParrotDiffers   pipeline.Reason = "parrot_differs"   // it did not repeat what it heard
)

// Parrot reads the requests of parrot-acp 1.0.0, an invented agent. It supplies
// no name; its adapter writes the qualified name twice into the metadata of the
// tool call: _meta.parrot.heard and _meta.parrot.said.
type Parrot struct{}

// New makes the dialect.
func New() Parrot { return Parrot{} }

// Agent is the id that an instance is configured with.
func (Parrot) Agent() pipeline.Agent { return "parrot-acp" }

// Claim only says what the frames say. Whether that is an identity, and whether
// it agrees with a supplied name, is judged by the stages.
func (Parrot) Claim(req *pipeline.Request) (pipeline.Claim, error) {
	parrot := req.Call.Meta.Get("parrot")
	if parrot.Kind() == pipeline.MetaAbsent {
		return pipeline.Claim{}, dialects.Error{Reason: ReasonParrotSilent, Absent: true}
	}
	heard, isText := parrot.Get("heard").Text()
	said, areTexts := parrot.Get("said").Text()
	switch {
	case !isText || !areTexts:
		return pipeline.Claim{}, dialects.Error{Reason: ReasonParrotMalformed}
	case heard != said:
		return pipeline.Claim{}, dialects.Error{Reason: ReasonParrotDiffers}
	}
	return pipeline.ClaimName(said), nil
}
