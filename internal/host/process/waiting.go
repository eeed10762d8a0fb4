package process

import (
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// maxWaiting bounds what an offer that waits holds of its frame, in bytes. Each
// text in a frame can be as long as a line, and thousands of offers can wait.
const maxWaiting = 64 << 10

// tooLargeToWait says whether an offer holds more than that.
func tooLargeToWait(r *pipeline.Request) bool {
	size := len(r.Call.ID) + len(r.SessionID)
	for _, o := range r.Options {
		size += len(o.ID) + len(o.Kind) + len(o.Label)
	}
	return size > maxWaiting
}

// waiting is an offer without what only its decision needed.
func waiting(o *acp.Offer) *acp.Offer {
	lean := *o
	lean.Request.Call, lean.Request.Meta = pipeline.ToolCall{ID: o.Request.Call.ID}, pipeline.Meta{}
	return &lean
}
