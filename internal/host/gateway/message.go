package gateway

import (
	"bytes"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/internal/host/dispatch"
)

// request is one message of a client. Id and action are the bytes that came, nil
// where they cannot be read: a reply repeats them.
type request struct {
	id, action jsontext.Value
	name       string // of the action
	payload    jsontext.Value
}

// maxLabel bounds id and action, in bytes of JSON.
const maxLabel = 256

func invalid(message string) *dispatch.Error {
	return &dispatch.Error{Code: dispatch.CodeInvalidRequest, Message: message}
}

func malformed() *dispatch.Error {
	return invalid("the message is not well-formed JSON, or not UTF-8")
}

// readRequest reads a message strictly: one object, its keys exactly id, action and
// payload, each at most once. What is wrong inside a payload is the dispatcher's to say.
func readRequest(raw []byte) (request, *dispatch.Error) {
	var m struct {
		ID      jsontext.Value `json:"id"`
		Action  jsontext.Value `json:"action"`
		Payload jsontext.Value `json:"payload"`
	}
	if json.Unmarshal(raw, &m, json.RejectUnknownMembers(true)) == nil {
		r := request{payload: m.Payload}
		if r.set("id", m.ID) == nil && r.set("action", m.Action) == nil {
			return r, nil
		}
	}
	return scanRequest(raw)
}

// scanRequest is the long way, which finds out what is wrong, and what can be read
// all the same.
func scanRequest(raw []byte) (request, *dispatch.Error) {
	var r request
	d := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true))
	if d.PeekKind() != '{' {
		return request{}, invalid("a message is one JSON object: {\"id\":…,\"action\":…,\"payload\":…}")
	}
	_, _ = d.ReadToken()
	var wrong *dispatch.Error
	seen := map[string]bool{}
	for d.PeekKind() == '"' {
		key, value, ok := member(d)
		if !ok {
			return request{}, malformed()
		}
		problem := r.set(key, value)
		if seen[key] {
			r.unset(key)
			problem = invalid("a key is there twice")
		}
		seen[key] = true
		if wrong == nil {
			wrong = problem
		}
	}
	if token, err := d.ReadToken(); err != nil || token.Kind() != '}' {
		return request{}, malformed()
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return request{}, invalid("something follows the JSON object")
	}
	switch {
	case wrong != nil:
	case r.id == nil:
		wrong = invalid("id is missing")
	case r.action == nil:
		wrong = invalid("action is missing")
	}
	return r, wrong
}

// member reads a key and its value; false when the JSON is broken.
func member(d *jsontext.Decoder) (string, jsontext.Value, bool) {
	token, err := d.ReadToken()
	if err != nil {
		return "", nil, false
	}
	key := token.String()
	value, err := d.ReadValue()
	return key, value.Clone(), err == nil
}

// set takes in a member, and says what is wrong with it.
func (r *request) set(key string, value jsontext.Value) *dispatch.Error {
	switch key {
	case "id":
		if kind := value.Kind(); kind != '"' && kind != '0' || len(value) > maxLabel {
			return invalid("id is a text or a number, of at most 256 bytes")
		}
		r.id = value
	case "action":
		name, err := jsontext.AppendUnquote(nil, value)
		if value.Kind() != '"' || err != nil || len(name) == 0 || len(value) > maxLabel || !utf8.Valid(name) {
			return invalid("action is a text, of at most 256 bytes")
		}
		r.action, r.name = value, string(name)
	case "payload":
		r.payload = value
	default:
		return invalid("a key is there that messages do not have: they have id, action and payload")
	}
	return nil
}

// unset forgets a member that is there twice.
func (r *request) unset(key string) {
	switch key {
	case "id":
		r.id = nil
	case "action":
		r.action, r.name = nil, ""
	case "payload":
		r.payload = nil
	}
}

// reply writes the answer to a request.
func (r *request) reply(result any, failure *dispatch.Error) []byte {
	var encoded jsontext.Value
	if failure == nil {
		var err error
		if encoded, err = dispatch.Encode(result); err != nil {
			failure = &dispatch.Error{Code: dispatch.CodeInternal, Message: "the result cannot be written as JSON"}
		}
	}
	b := make([]byte, 0, 64+len(r.id)+len(r.action)+len(encoded))
	b = append(append(b, `{"id":`...), orNull(r.id)...)
	b = append(append(b, `,"action":`...), orNull(r.action)...)
	if failure == nil {
		b = append(append(b, `,"result":`...), encoded...)
		return append(b, '}')
	}
	b = append(b, `,"error":{"code":`...)
	b, _ = jsontext.AppendQuote(b, failure.Code)
	b = append(b, `,"message":`...)
	b, _ = jsontext.AppendQuote(b, failure.Message)
	return append(b, "}}"...)
}

func orNull(v jsontext.Value) jsontext.Value {
	if v == nil {
		return jsontext.Value("null")
	}
	return v
}
