package acp

import (
	"bytes"
	"unicode/utf8"
)

// Asked is what a relay has to know of an offer that a person will be asked about.
type Asked struct {
	ID      ID
	Session string
}

// maxQuickName is the longest name of a tool in bytes that [QuickAsk] looks at.
const maxQuickName = 128

// QuickAsk says, from one look over the line, that it is an offer which no pipeline of
// this module approves or cancels unless it approves everything: it has options, and
// its tool call has a name, which is final, that is no qualified name. Then a relay
// need not wait for the whole of the decision. False says nothing about the line; and
// that it is true does not say that the line can be read.
func QuickAsk(line []byte) (Asked, bool) {
	line = trimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return Asked{}, false
	}
	var a Asked
	var seen uint8
	s := scanner{b: line, pos: 1}
	for s.nextKey() {
		if s.keyEsc {
			return Asked{}, false
		}
		bit, params := uint8(0), false
		switch {
		case s.keyIs("id"):
			bit = bitID
		case s.keyIs("method"):
			bit = bitMethod
		case s.keyIs("params"):
			bit, params = bitParams, true
		case s.keyIs("result"), s.keyIs("error"):
			return Asked{}, false
		}
		if seen&bit != 0 || params && !a.params(&s) || !params && (!s.skipValue() || s.pos == s.from) {
			return Asked{}, false
		}
		seen |= bit
		value := s.b[s.from:s.pos]
		switch bit {
		case bitID:
			a.ID = newID(value)
		case bitMethod:
			if string(value) != `"`+MethodRequestPermission+`"` {
				return Asked{}, false
			}
		}
	}
	ok := s.done() && seen == bitID|bitMethod|bitParams && a.ID.Valid() && wellFormed([]byte(a.ID.String()))
	return a, ok && utf8.ValidString(a.Session)
}

const (
	quickSession uint8 = 1 << iota
	quickCall
	quickOptions
	quickName
)

// params walks the params of an offer.
func (a *Asked) params(s *scanner) bool {
	if !s.at('{') {
		return false
	}
	var seen uint8
	in := scanner{b: s.b, pos: s.pos + 1}
	for in.nextKey() {
		if in.keyEsc {
			return false
		}
		bit, ok := uint8(0), true
		switch {
		case in.keyIs("toolCall"):
			bit, ok = quickCall, quickCallName(&in)
		case in.keyIs("sessionId"):
			bit, ok = quickSession, in.at('"') && in.skipString() && !in.escaped
			a.Session = string(in.b[min(in.from+1, len(in.b)):max(in.pos-1, in.from+1)])
		case in.keyIs("options"):
			bit, ok = quickOptions, in.at('[') && !emptyArray(in.b, in.pos) && in.skipValue()
		case in.keyIs("subject"):
			return false
		default:
			ok = in.skipValue() && in.pos > in.from
		}
		if !ok || seen&bit != 0 {
			return false
		}
		seen |= bit
	}
	return s.leave(&in) && seen == quickSession|quickCall|quickOptions
}

func emptyArray(b []byte, at int) bool {
	at = skipSpace(b, at+1)
	return at >= len(b) || b[at] == ']'
}

// quickCallName walks a tool call whose name is final and no qualified name.
func quickCallName(s *scanner) bool {
	if !s.at('{') {
		return false
	}
	named := false
	in := scanner{b: s.b, pos: s.pos + 1}
	for in.nextKey() {
		if in.keyEsc {
			return false
		}
		if !in.keyIs("name") {
			if !in.skipValue() || in.pos == in.from {
				return false
			}
			continue
		}
		if named || !in.at('"') || !in.skipString() || in.escaped {
			return false
		}
		name := in.b[in.from+1 : in.pos-1]
		if len(name) > maxQuickName || bytes.HasPrefix(name, []byte("mcp__")) {
			return false
		}
		named = true
	}
	return s.leave(&in) && named
}
