package process

import (
	"github.com/kandev/assent/internal/host/frame"
	"github.com/kandev/assent/pipeline/acp"
)

// cancelledID reads which request a $/cancel_request takes back, with the id in
// a form in which two spellings of one string are equal.
func cancelledID(line []byte) (string, bool) {
	id := frame.Read(line).RequestID
	if id == nil {
		return "", false
	}
	return acp.NewID(string(id)).Key(), true
}
