package acp

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is how deep the strict decoder goes (jsontext refuses more).
const maxDepth = 10000

// lenient is how text is read where well-formed JSON is enough.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// scanner walks the members of one object without decoding what is inside them.
// It finds where values begin and end; whether they are good JSON is not its
// business. It needs no recursion, so nesting costs it nothing.
type scanner struct {
	b   []byte
	pos int

	key     []byte // the current member's key, quoted
	value   []byte // and its value
	deepest int
	closed  bool
}

// nextMember moves to the next member; pos stands behind "{" or a value.
func (s *scanner) nextMember() bool {
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
	s.key = s.b[start:s.pos]
	s.pos = skipSpace(s.b, s.pos)
	if !s.at(':') {
		return false
	}
	s.pos = skipSpace(s.b, s.pos+1)
	start = s.pos
	if !s.skipValue() || s.pos == start {
		return false
	}
	s.value = s.b[start:s.pos]
	return true
}

// done says that the object was closed and nothing follows it.
func (s *scanner) done() bool { return s.closed && skipSpace(s.b, s.pos) == len(s.b) }

func (s *scanner) at(c byte) bool { return s.pos < len(s.b) && s.b[s.pos] == c }

func (s *scanner) keyIs(name string) bool { return unquoted(s.key, name) }

// skipString moves behind the string that begins at pos.
func (s *scanner) skipString() bool {
	i := s.pos + 1
	for {
		n := bytes.IndexByte(s.b[i:], '"')
		if n < 0 {
			return false
		}
		end := i + n
		slashes := 0
		for j := end - 1; j > s.pos && s.b[j] == '\\'; j-- {
			slashes++
		}
		i = end + 1
		if slashes%2 == 0 {
			s.pos = i
			return true
		}
	}
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
	depth := 0
	for s.pos < len(s.b) {
		switch s.b[s.pos] {
		case '"':
			if !s.skipString() {
				return false
			}
			continue
		case '{', '[':
			depth++
			s.deepest = max(s.deepest, depth+1)
		case '}', ']':
			if depth--; depth == 0 {
				s.pos++
				return true
			}
		}
		s.pos++
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
