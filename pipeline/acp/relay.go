package acp

import "github.com/go-json-experiment/json/jsontext"

// What a host or relay reads of messages that are not its own.

// Sessions are the session ids that the message's params name, in their order: one
// in a good message. An id that is no text counts as an empty one.
func (f Frame) Sessions() []string {
	ids, _ := namedIn(f)
	return ids
}

// Refused says that a response is an error and nothing else.
func (f Frame) Refused() bool {
	return len(f.failure) > 0 && f.failure[0] == '{' && f.result == nil && !f.repeated
}

// MadeSession is the id of the session that the response to a session/new or fork
// names; empty when it cannot be read in exactly one way.
func (f Frame) MadeSession() string { return readSessionID(f) }

// Result is the value of the result member as it stands in the line, nil without
// one. Nothing in it was checked.
func (f Frame) Result() jsontext.Value { return jsontext.Value(f.result) }

// Outcome reads the answer to a permission request: the id of the selected option.
// Asked is false for a response that is no answer to a permission request at all.
func (f Frame) Outcome() (option string, selected, asked bool) {
	if f.result == nil || f.result[0] != '{' {
		return "", false, false
	}
	members(f.Line, "result", func(result []byte) {
		members(result, "outcome", func(outcome []byte) {
			asked = true
			members(outcome, "outcome", func(v []byte) { selected = unquoted(v, "selected") })
			members(outcome, "optionId", func(v []byte) {
				id, err := jsontext.AppendUnquote(nil, v)
				if err == nil {
					option = string(id)
				}
			})
		})
	})
	return option, selected && asked, asked
}
