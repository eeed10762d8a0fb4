package nets

import (
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/frame"
)

// The states of a tool call that end it (ACP, ToolCallStatus).
const (
	statusCompleted = "completed"
	statusFailed    = "failed"
)

// update is what a session/update says about a tool call. The status is empty for
// one that does not end it.
type update struct {
	session, call, status string
	start                 bool       // it begins the call
	kind                  audit.Kind // empty when it says none
}

// readUpdate reads an update leniently: of two states the one counts that ends the
// call, since it has ended for somebody. About says that the update is about a tool
// call, ok that it can be read to its end.
func readUpdate(line []byte) (u update, about, ok bool) {
	w := frame.Walk(line)
	kind := ""
	w.Object(func(key []byte) {
		if text(key) != "params" {
			w.Value()
			return
		}
		w.Object(func(key []byte) {
			switch text(key) {
			case "sessionId":
				u.session = text(w.Value())
			case "update":
				w.Object(func(key []byte) {
					if name := text(key); name == "sessionUpdate" {
						kind = text(w.Value())
					} else {
						u.member(name, w)
					}
				})
			default:
				w.Value()
			}
		})
	})
	u.start = kind == "tool_call"
	return u, u.start || kind == "tool_call_update", !w.Bad()
}

// member reads a member of the update itself.
func (u *update) member(name string, w *frame.Walker) {
	value := w.Value()
	switch name {
	case "toolCallId":
		u.call = text(value)
	case "kind":
		if said := text(value); said != "" {
			u.kind = audit.KnownKind(said)
		}
	case "status":
		if status := text(value); status == statusCompleted || status == statusFailed {
			u.status = status
		}
	}
}

// text is a JSON string. One that is longer than anything that is followed, and a
// value of another type, is empty.
func text(v []byte) string {
	plain, cut := frame.Text(v, 6*MaxFollowed)
	if cut {
		return ""
	}
	return plain
}
