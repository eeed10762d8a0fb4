package acp

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is how deep the strict decoder goes (jsontext refuses more).
const maxDepth = 10000

// scanner walks the members of one object without decoding what is inside them.
// It finds where values begin and end; whether they are good JSON is not its
// business. It needs no recursion, so nesting costs it nothing.
type scanner struct {
	b   []byte
	pos int

	key     []byte // the current member's key, quoted
	value   []byte // and its value
	from    int    // where the value begins in b
	escaped bool   // the last string had escapes
	keyEsc  bool   // the key has escapes
	deepest int
	closed  bool
}

// nextMember moves to the next member; pos stands behind "{" or a value.
func (s *scanner) nextMember() bool {
	if !s.nextKey() || !s.skipValue() || s.pos == s.from {
		return false
	}
	s.value = s.b[s.from:s.pos]
	return true
}

// nextKey moves to where the next member's value begins. Whoever calls it moves
// pos behind that value.
func (s *scanner) nextKey() bool {
	s.pos = skipSpace(s.b, s.pos)
	if s.key != nil && s.at(',') {
		s.pos = skipSpace(s.b, s.pos+1)
	} else if s.at('}') {
		s.pos, s.closed = s.pos+1, true
		return false
	} else if s.key != nil {
		return false
	}
	start := s.pos
	if !s.at('"') || !s.skipString() {
		return false
	}
	s.key, s.keyEsc = s.b[start:s.pos], s.escaped
	s.pos = skipSpace(s.b, s.pos)
	if !s.at(':') {
		return false
	}
	s.pos = skipSpace(s.b, s.pos+1)
	s.from = s.pos
	return true
}

// leave moves behind the object that in has walked, if it has come to its end.
func (s *scanner) leave(in *scanner) bool {
	if in.closed {
		s.pos, s.deepest = in.pos, max(s.deepest, in.deepest+1, 2)
	}
	return in.closed
}

// done says that the object was closed and nothing follows it.
func (s *scanner) done() bool { return s.closed && skipSpace(s.b, s.pos) == len(s.b) }

func (s *scanner) at(c byte) bool { return s.pos < len(s.b) && s.b[s.pos] == c }

func (s *scanner) keyIs(name string) bool {
	if s.keyEsc {
		return unquoted(s.key, name)
	}
	return string(s.key[1:len(s.key)-1]) == name
}

// skipString moves behind the string that begins at pos.
func (s *scanner) skipString() bool {
	end, escaped := stringEnd(s.b, s.pos+1)
	if end < 0 {
		return false
	}
	s.pos, s.escaped = end, escaped
	return true
}

// skipValue moves behind the value that begins at pos.
func (s *scanner) skipValue() bool {
	if s.pos >= len(s.b) {
		return false
	}
	switch s.b[s.pos] {
	case '"':
		return s.skipString()
	case '{', '[':
		return s.skipContainer()
	}
	for s.pos < len(s.b) {
		switch s.b[s.pos] {
		case ',', '}', ']', ' ', '\t', '\r', '\n', ':', '"', '{', '[':
			return true
		}
		s.pos++
	}
	return true
}

func (s *scanner) skipContainer() bool {
	b, i, depth := s.b, s.pos, 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i, _ = stringEnd(b, i+1); i < 0 {
				return false
			}
			continue
		case '{', '[':
			depth++
			s.deepest = max(s.deepest, depth+1)
		case '}', ']':
			if depth--; depth == 0 {
				s.pos = i + 1
				return true
			}
		}
		i++
	}
	return false
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

func trimSpace(b []byte) []byte {
	b = b[skipSpace(b, 0):]
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t' || b[len(b)-1] == '\r' || b[len(b)-1] == '\n') {
		b = b[:len(b)-1]
	}
	return b
}

// unquoted says whether a quoted JSON string means exactly text.
func unquoted(quoted []byte, text string) bool {
	if len(quoted) < 2 || quoted[0] != '"' {
		return false
	}
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner) == text
	}
	if len(inner) > 6*len(text) { // \uXXXX is the longest way to write a byte
		return false
	}
	value, err := jsontext.AppendUnquote(nil, quoted)
	return err == nil && string(value) == text
}
