package acp

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// Errors of [Peek] and [Decoder]: what a line is when it is no message.
var (
	// ErrBlank is an empty line. It means nothing.
	ErrBlank = errors.New("acp: blank line")
	// ErrNoise is a line that is no JSON object. Agents print banners and
	// progress bars; a line like that is never fatal.
	ErrNoise = errors.New("acp: line is no JSON object")
	// ErrBatch is a JSON array. Nothing in it is dispatched or forwarded; answer
	// it with [BatchRefusal].
	ErrBatch = errors.New("acp: JSON-RPC batches are refused")
)

// FrameKind tells the JSON-RPC messages apart.
type FrameKind uint8

const (
	// KindInvalid is an object that is no JSON-RPC message.
	KindInvalid FrameKind = iota
	// KindRequest has a method and an id that is a string or a number.
	KindRequest
	// KindNotification has a method and no id.
	KindNotification
	// KindUnanswerable has a method and an id that is neither string nor number.
	KindUnanswerable
	// KindResponse has a result or an error, whatever else it has.
	KindResponse
)

// Frame is one message of which only the top level was looked at. It points into
// the line it was made from.
type Frame struct {
	Kind   FrameKind
	ID     ID
	Method string
	// Line is the whole line without its line end.
	Line []byte

	params, result, failure []byte
	repeated                bool // a top-level member that counts is there twice
	badID                   bool // the id that counts is no JSON
	deep                    bool // nested deeper than the decoder goes
	toolCall                bool // as an update it may be about a tool call
}

// Methods that this package knows.
const (
	MethodRequestPermission = "session/request_permission"
	MethodUpdate            = "session/update"
	MethodInitialize        = "initialize"
	MethodPrompt            = "session/prompt"
	MethodNew               = "session/new"
	MethodLoad              = "session/load"
	MethodResume            = "session/resume"
	MethodFork              = "session/fork"
	MethodClose             = "session/close"
	MethodDelete            = "session/delete"
	MethodCancel            = "session/cancel"
	MethodCancelRequest     = "$/cancel_request"
)

// Peek looks at the top-level members of a line and at nothing below. It does
// not check the syntax of what it skips: only what is decided by is decoded.
// A member that is there twice counts with its last value, as most readers take
// it, and is remembered as ambiguous; of two methods the one counts that needs
// more care.
func Peek(line []byte) (Frame, error) {
	line = trimSpace(line)
	switch {
	case len(line) == 0:
		return Frame{}, ErrBlank
	case line[0] == '[':
		if wellFormed(line) {
			return Frame{}, ErrBatch
		}
		return Frame{}, ErrNoise
	case line[0] != '{':
		return Frame{}, ErrNoise
	}
	f := Frame{Line: line}
	var seen uint8
	s := scanner{b: line, pos: 1}
	for f.nextMember(&s) {
		bit := f.place(&s)
		if bit != 0 && seen&bit != 0 {
			f.repeated = true
		}
		seen |= bit
	}
	if !s.done() {
		return Frame{}, ErrNoise
	}
	if f.badID {
		return Frame{}, ErrNoise // such an answer would be no JSON either
	}
	f.deep = s.deepest > maxDepth
	f.Kind = f.classify(seen)
	return f, nil
}

// nextMember moves to the next member. On the way through params it looks for what
// kind of update this is, so that most updates need no second look.
func (f *Frame) nextMember(s *scanner) bool {
	if !s.nextKey() {
		return false
	}
	if s.at('{') && s.keyIs("params") && !f.walkParams(s) {
		f.toolCall = true // nobody knows
	}
	if s.pos == s.from && (!s.skipValue() || s.pos == s.from) {
		return false
	}
	s.value = s.b[s.from:s.pos]
	return true
}

// walkParams walks params, at whose beginning s stands, and moves s behind it. What
// is no object to its end is left alone.
func (f *Frame) walkParams(s *scanner) bool {
	in := scanner{b: s.b, pos: s.pos + 1}
	for in.nextKey() {
		if in.at('{') && in.keyIs("update") && !f.walkUpdate(&in) {
			return false
		}
		if in.pos == in.from && (!in.skipValue() || in.pos == in.from) {
			return false
		}
	}
	return s.leave(&in)
}

// walkUpdate does the same with the update in it.
func (f *Frame) walkUpdate(s *scanner) bool {
	in := scanner{b: s.b, pos: s.pos + 1}
	for in.nextKey() {
		if !in.skipValue() || in.pos == in.from {
			return false
		}
		if in.keyIs("sessionUpdate") && in.b[in.from] == '"' {
			kind := in.b[in.from+1 : in.pos-1]
			f.toolCall = f.toolCall || bytes.IndexByte(kind, '\\') >= 0 || bytes.HasPrefix(kind, []byte("tool_call"))
		}
	}
	return s.leave(&in)
}

const (
	bitID uint8 = 1 << iota
	bitMethod
	bitParams
	bitResult
	bitError
)

// place stores one top-level member and says which one it was.
func (f *Frame) place(s *scanner) (bit uint8) {
	value := s.value
	switch {
	case s.keyIs("id"):
		f.ID, f.badID = newID(value), !wellFormed(value)
		return bitID
	case s.keyIs("method"):
		if m := methodName(value); rank(m) >= rank(f.Method) { // of two methods the careful reading
			f.Method = m
		}
		return bitMethod
	case s.keyIs("params"):
		f.params = value
		return bitParams
	case s.keyIs("result"):
		f.result = value
		return bitResult
	case s.keyIs("error"):
		f.failure = value
		return bitError
	}
	return 0
}

func (f *Frame) classify(seen uint8) FrameKind {
	switch {
	case seen&(bitResult|bitError) != 0:
		return KindResponse
	case seen&bitMethod == 0 || f.Method == "":
		return KindInvalid
	case seen&bitID == 0:
		return KindNotification
	case !f.ID.Valid():
		return KindUnanswerable
	}
	return KindRequest
}

// rank orders methods by how much depends on them.
func rank(method string) int {
	switch method {
	case MethodRequestPermission:
		return 3
	case MethodUpdate, MethodNew, MethodLoad, MethodResume, MethodFork:
		return 2
	case "":
		return 0
	}
	return 1
}

// maxMethod bounds what is kept of an unknown method's name.
const maxMethod = 256

// methodName reads a method without an allocation for the frequent ones. What is
// no string is no method.
func methodName(value []byte) string {
	for _, m := range [...]string{
		MethodUpdate, MethodRequestPermission, MethodNew, MethodLoad, MethodResume, MethodFork, MethodCancel, MethodCancelRequest,
	} {
		if len(value) == len(m)+2 && string(value[1:len(value)-1]) == m && value[0] == '"' {
			return m
		}
	}
	if value[0] != '"' || len(value) > maxMethod {
		return ""
	}
	name, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return ""
	}
	return string(name)
}
