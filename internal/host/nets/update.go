package nets

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/internal/host/audit"
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
	r := reader{dec: jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	kind := ""
	r.object(func(key string) {
		if key != "params" {
			r.skip()
			return
		}
		r.object(func(key string) {
			switch key {
			case "sessionId":
				u.session = r.text()
			case "update":
				r.object(func(key string) {
					switch key {
					case "sessionUpdate":
						kind = r.text()
					case "toolCallId":
						u.call = r.text()
					case "kind":
						if text := r.text(); text != "" {
							u.kind = audit.KnownKind(text)
						}
					case "status":
						if status := r.text(); status == statusCompleted || status == statusFailed {
							u.status = status
						}
					default:
						r.skip()
					}
				})
			default:
				r.skip()
			}
		})
	})
	u.start = kind == "tool_call"
	return u, u.start || kind == "tool_call_update", !r.bad
}

// reader walks a line. After bad JSON nothing more comes.
type reader struct {
	dec *jsontext.Decoder
	bad bool
}

// object calls member, which has to read or skip the value, for each member of the
// next value; a value of another type is skipped.
func (r *reader) object(member func(key string)) {
	if r.bad || r.dec.PeekKind() != '{' {
		r.skip()
		return
	}
	r.token()
	for !r.bad && r.dec.PeekKind() == '"' {
		member(r.text())
	}
	r.token()
}

func (r *reader) token() {
	if !r.bad {
		_, err := r.dec.ReadToken()
		r.bad = err != nil
	}
}

func (r *reader) skip() {
	if !r.bad {
		r.bad = r.dec.SkipValue() != nil
	}
}

// text reads a string. One that is longer than anything that is followed, and a
// value of another type, is empty.
func (r *reader) text() string {
	if r.bad || r.dec.PeekKind() != '"' {
		r.skip()
		return ""
	}
	v, err := r.dec.ReadValue()
	if r.bad = err != nil; r.bad || len(v) > 6*MaxFollowed+2 {
		return ""
	}
	text, _ := jsontext.AppendUnquote(nil, v) // bad text is replaced
	return string(text)
}
