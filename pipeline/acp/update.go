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
func readUpdate(f Frame, rawInput bool) (*update, error) {
	if f.deep || f.repeated {
		return nil, readability(f)
	}
	c := newCursor(f.Line)
	defer c.release()
	u := new(update)
	var kind, session, id pipeline.Text
	member := func(key []byte) (err error) {
		switch string(key) {
		case "sessionUpdate":
			kind, err = c.text()
		case "toolCallId":
			id, err = c.text()
		default:
			err = c.updateMember(string(key), u, rawInput)
		}
		return err
	}
	err := c.object(func(key []byte) error {
		if string(key) != "params" {
			return c.skip()
		}
		return c.objectOrSkip(func(key []byte) (err error) {
			switch string(key) {
			case "sessionId":
				session, err = c.text()
			case "update":
				err = c.objectOrSkip(member)
			default:
				err = c.skip()
			}
			return err
		})
	})
	if err != nil {
		return nil, readability(f)
	}
	if session.State() == pipeline.TextTooLong {
		return nil, errUnreadable // readTargets finds that nothing can be told apart
	}
	given := false
	u.session, given = session.Value()
	u.seen.ID, u.toolCall = id.Value()
	u.untracked = id.State() == pipeline.TextTooLong
	u.seen.Start = kind.Is("tool_call")
	u.toolCall = given && (u.toolCall || u.untracked) && (u.seen.Start || kind.Is("tool_call_update"))
	return u, nil
}

func (c *cursor) updateMember(key string, u *update, rawInput bool) (err error) {
	switch key {
	case "name":
		u.name, err = c.text()
	case "title":
		u.title, err = c.text()
	case "kind":
		u.kind, err = c.text()
	case "status":
		var status pipeline.Text
		status, err = c.text()
		u.seen.Status, _ = status.Value()
	case "_meta":
		u.seen.Meta, err = c.meta(0)
	case "rawInput":
		if rawInput {
			u.seen.RawInput, err = c.rawInput()
		} else {
			err = c.skipLenient()
		}
	case "content", "locations":
		err = c.skipLenient()
	default:
		err = c.skip()
	}
	return err
}

// target is a tool call that an ambiguous update may be about.
type target struct{ session, call string }

// maxTargets bounds what one ambiguous update can be about.
const maxTargets = 32

// readTargets finds every tool call that an ambiguous update may be about. False
// means that there are too many to tell.
func readTargets(f Frame) ([]target, bool) {
	var sessions, calls []string
	long := false
	addText := func(list []string, quoted []byte) []string {
		long = long || len(quoted) > 6*pipeline.MaxText
		if long || quoted[0] != '"' || len(list) > maxTargets {
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
		})
	})
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
