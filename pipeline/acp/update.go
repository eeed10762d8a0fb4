package acp

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline"
)

const (
	statusCompleted = "completed"
	statusFailed    = "failed"
)

// update is one session/update about a tool call.
type update struct {
	session  string
	toolCall bool // it is about a tool call, and says which
	// cost is about how many bytes its metadata and texts take.
	cost int
	// untracked: its id is too long to be kept, so the session loses an entry.
	untracked bool
	seen      pipeline.ToolCallUpdate

	name, title, kind pipeline.Text
}

// ended says that the call is over: nothing of it counts for a later one.
func (u *update) ended() bool {
	return u.seen.Status == statusCompleted || u.seen.Status == statusFailed
}

// readUpdate decodes a session/update. An update of another kind, or one that
// lacks what it needs, is no tool call. An error means that it is ambiguous, or
// no JSON at all.
func readUpdate(f Frame, observed bool) (*update, error) {
	if f.deep || f.repeated {
		return nil, readability(f)
	}
	r, ok := read(f.Line, levelUpdate)
	defer r.release()
	if !ok {
		return nil, readability(f)
	}
	u := new(update)
	var kind, session pipeline.Text
	id, given := "", false
	_ = r.params(func(key []byte) error { // of another shape: then it is no tool call
		switch string(key) {
		case "sessionId":
			session = r.member()
		case "update":
			return r.object(func(key []byte) error {
				switch string(key) {
				case "sessionUpdate":
					kind = r.member()
				case "toolCallId":
					given = r.kind() == '"'
					id = r.optional()
				default:
					r.updateMember(key, u)
				}
				return nil
			})
		}
		return nil
	})
	if observed {
		u.seen.RawInput = rawInput(f.Line)
	}
	if session.State() == pipeline.TextTooLong {
		return nil, errUnreadable // readTargets finds that nothing can be told apart
	}
	u.seen.ID, u.untracked = id, len(id) > pipeline.MaxText
	u.seen.Start = kind.Is("tool_call")
	u.cost = r.cost + textCost(u.name) + textCost(u.title) + textCost(u.kind)
	about := u.seen.Start || kind.Is("tool_call_update")
	var named bool
	u.session, named = session.Value()
	u.toolCall = about && given && named
	return u, nil
}

func textCost(t pipeline.Text) int {
	text, _ := t.Value()
	return len(text)
}

func (r *reading) updateMember(key []byte, u *update) {
	switch string(key) {
	case "name":
		u.name = r.member()
	case "title":
		u.title = r.member()
	case "kind":
		u.kind = r.member()
	case "status":
		u.seen.Status, _ = r.member().Value()
	case "_meta":
		u.seen.Meta = r.meta(0)
	}
}

// rawInput reads the update's rawInput for an observer, from a line that was
// decoded and so has it once at most.
func rawInput(line []byte) (raw pipeline.Meta) {
	members(line, "params", func(params []byte) {
		members(params, "update", func(u []byte) {
			members(u, "rawInput", func(v []byte) { raw = shallow(v) })
		})
	})
	return raw
}

// target is a tool call that an ambiguous update may be about.
type target struct{ session, call string }

// maxTargets bounds what one ambiguous update can be about.
const maxTargets = 32

// readTargets finds every tool call that an ambiguous update may be about. False
// means that there are too many to tell.
func readTargets(f Frame) ([]target, bool) {
	var sessions, calls []string
	long, about := false, false
	addText := func(list []string, quoted []byte) []string {
		if quoted[0] != '"' || len(list) > maxTargets {
			return list
		}
		if long = long || len(quoted) > 6*pipeline.MaxText; long {
			return list
		}
		text, _ := jsontext.AppendUnquote(nil, quoted) // bad text is replaced: it then names no call
		if slices.Contains(list, string(text)) {
			return list
		}
		return append(list, string(text))
	}
	members(f.Line, "params", func(params []byte) {
		members(params, "sessionId", func(v []byte) { sessions = addText(sessions, v) })
		members(params, "update", func(u []byte) {
			members(u, "toolCallId", func(v []byte) { calls = addText(calls, v) })
			members(u, "sessionUpdate", func(v []byte) {
				about = about || unquoted(v, "tool_call") || unquoted(v, "tool_call_update")
			})
		})
	})
	if !about {
		return nil, true
	}
	if long || len(sessions) > maxTargets || len(calls) > maxTargets {
		return nil, false
	}
	var targets []target
	for _, s := range sessions {
		for _, c := range calls {
			targets = append(targets, target{s, c})
		}
	}
	return targets, true
}

// members calls found for each member of an object that has the given key.
func members(object []byte, key string, found func(value []byte)) {
	if len(object) == 0 || object[0] != '{' {
		return
	}
	for s := (scanner{b: object, pos: 1}); s.nextMember(); {
		if s.keyIs(key) {
			found(s.value)
		}
	}
}
