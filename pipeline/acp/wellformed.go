package acp

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// wellFormed says whether b is exactly one JSON value (RFC 8259), whatever its
// keys and whatever its text: duplicate keys, invalid UTF-8 and lone surrogates
// are fine here. It is for the places where the model's own arguments stand,
// which can be megabytes: it needs a third of the time of a strict decoder, and
// no recursion.
func wellFormed(b []byte) bool {
	end, ok := valueEnd(b, skipSpace(b, 0))
	return ok && skipSpace(b, end) == len(b)
}

// valueEnd is where the well-formed value ends that begins at the given place.
func valueEnd(b []byte, at int) (end int, ok bool) {
	v := validator{b: b, i: at}
	if !v.value() {
		return v.i, false
	}
	for v.depth > 0 {
		v.space()
		if !v.next() {
			return v.i, false
		}
	}
	return v.i, true
}

type validator struct {
	b []byte
	i int

	// The containers that are open, each '{' or '[': the first ones in few, so
	// that ordinary nesting costs no allocation.
	depth int
	few   [64]byte
	more  []byte
}

func (v *validator) push(c byte) {
	if v.depth < len(v.few) {
		v.few[v.depth] = c
	} else {
		v.more = append(v.more, c)
	}
	v.depth++
}

func (v *validator) top() byte {
	if v.depth <= len(v.few) {
		return v.few[v.depth-1]
	}
	return v.more[len(v.more)-1]
}

func (v *validator) pop() {
	if v.depth > len(v.few) {
		v.more = v.more[:len(v.more)-1]
	}
	v.depth--
}

func (v *validator) space() { v.i = skipSpace(v.b, v.i) }

func (v *validator) at(c byte) bool { return v.i < len(v.b) && v.b[v.i] == c }

// take moves over a byte that must be there.
func (v *validator) take(c byte) bool {
	if !v.at(c) {
		return false
	}
	v.i++
	return true
}

// next moves over what follows a value, or the beginning, of an open container.
func (v *validator) next() bool {
	inObject := v.top() == '{'
	if inObject && v.take('}') || !inObject && v.take(']') {
		v.pop()
		return true
	}
	if !v.take(',') {
		return false
	}
	v.space()
	if inObject && !v.key() {
		return false
	}
	return v.value()
}

// key moves over a member's key to its value.
func (v *validator) key() bool {
	if !v.text() {
		return false
	}
	v.space()
	if !v.take(':') {
		return false
	}
	v.space()
	return true
}

// value moves over a scalar, or into a container and over its first element.
func (v *validator) value() bool {
	for v.i < len(v.b) {
		switch c := v.b[v.i]; c {
		case '"':
			return v.text()
		case '{':
			v.i++
			v.push(c)
			v.space()
			if v.at('}') {
				return true // next closes it
			}
			if !v.key() {
				return false
			}
		case '[':
			v.i++
			v.push(c)
			v.space()
			if v.at(']') {
				return true
			}
		case 't':
			return v.word("true")
		case 'f':
			return v.word("false")
		case 'n':
			return v.word("null")
		default:
			return v.number()
		}
	}
	return false
}

func (v *validator) word(w string) bool {
	if len(v.b)-v.i < len(w) || string(v.b[v.i:v.i+len(w)]) != w {
		return false
	}
	v.i += len(w)
	return true
}

func (v *validator) number() bool {
	v.take('-')
	if !v.take('0') && !v.digits() {
		return false
	}
	if v.take('.') && !v.digits() {
		return false
	}
	if v.take('e') || v.take('E') {
		if !v.take('+') {
			v.take('-')
		}
		return v.digits()
	}
	return true
}

func (v *validator) digits() bool {
	start := v.i
	for v.i < len(v.b) && v.b[v.i] >= '0' && v.b[v.i] <= '9' {
		v.i++
	}
	return v.i > start
}

// text moves over a string.
func (v *validator) text() bool {
	if !v.take('"') {
		return false
	}
	b, i := v.b, v.i
	for i < len(b) {
		if i+8 <= len(b) {
			mask := specials(binary.LittleEndian.Uint64(b[i:]))
			if mask == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(mask) / 8
		}
		switch c := b[i]; {
		case c == '"':
			v.i = i + 1
			return true
		case c == '\\':
			if v.i = i; !v.escape() {
				return false
			}
			i = v.i
		case c < ' ':
			return false
		default:
			i++
		}
	}
	return false
}

func (v *validator) escape() bool {
	if v.i+1 >= len(v.b) {
		return false
	}
	switch v.b[v.i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		v.i += 2
		return true
	case 'u':
		if v.i+6 > len(v.b) || slices.ContainsFunc(v.b[v.i+2:v.i+6], notHex) {
			return false
		}
		v.i += 6
		return true
	}
	return false
}

func notHex(c byte) bool {
	return !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F')
}
