package replay

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// node is a JSON value as it stands in a line, duplicate keys and bad text
// included. It is read by hand, so that the oracle shares nothing with the
// decoder that it is compared with.
type node struct {
	kind     byte // { [ " 0, or the first letter of true, false, null
	raw      string
	text     string // of a string
	bad      bool   // the string holds invalid UTF-8 or a lone surrogate
	members  []*member
	elements []*node
}

type member struct {
	raw, key string
	bad      bool
	value    *node
}

// parse reads a whole line; nil when it is no JSON value.
func parse(line string) *node {
	line = strings.Trim(line, " \t\r\n")
	if !json.Valid([]byte(line)) {
		return nil
	}
	p := parser{s: line}
	return p.value()
}

// parser walks text that is known to be valid JSON.
type parser struct {
	s string
	i int
}

func (p *parser) space() {
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *parser) value() *node {
	p.space()
	start := p.i
	n := &node{kind: p.s[p.i]}
	switch n.kind {
	case '{':
		p.list('}', func() {
			m := &member{}
			m.raw, m.key, m.bad = p.quoted()
			p.space()
			p.i++ // the colon
			m.value = p.value()
			n.members = append(n.members, m)
		})
	case '[':
		p.list(']', func() { n.elements = append(n.elements, p.value()) })
	case '"':
		_, n.text, n.bad = p.quoted()
	default:
		if n.kind == '-' || n.kind >= '0' && n.kind <= '9' {
			n.kind = '0'
		}
		for p.i < len(p.s) && strings.IndexByte(",]} \t\r\n", p.s[p.i]) < 0 {
			p.i++
		}
	}
	n.raw = p.s[start:p.i]
	return n
}

func (p *parser) list(end byte, element func()) {
	p.i++
	for p.space(); p.s[p.i] != end; p.space() {
		if p.s[p.i] == ',' {
			p.i++
			p.space()
		}
		element()
	}
	p.i++
}

func (p *parser) quoted() (raw, text string, bad bool) {
	start := p.i
	for p.i++; p.s[p.i] != '"'; p.i++ {
		if p.s[p.i] == '\\' {
			p.i++
		}
	}
	p.i++
	raw = p.s[start:p.i]
	text, bad = unquote(raw[1 : len(raw)-1])
	return raw, text, bad
}

// unquote decodes escapes; what is no text becomes U+FFFD and is reported.
func unquote(s string) (text string, bad bool) {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			r, n := utf8.DecodeRuneInString(s[i:])
			bad = bad || r == utf8.RuneError && n == 1
			b.WriteRune(r)
			i += n
			continue
		}
		if s[i+1] != 'u' {
			b.WriteByte("\"\\/\b\f\n\r\t"[strings.IndexByte(`"\/bfnrt`, s[i+1])])
			i += 2
			continue
		}
		r := hex(s[i+2:])
		i += 6
		if utf16.IsSurrogate(r) {
			low := rune(0)
			if strings.HasPrefix(s[i:], `\u`) {
				low = hex(s[i+2:])
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				bad = true
			} else {
				i += 6
			}
		}
		b.WriteRune(r)
	}
	return b.String(), bad
}

func hex(s string) rune {
	n, _ := strconv.ParseUint(s[:4], 16, 32)
	return rune(n)
}

// is says whether a value is exactly the given string.
func (n *node) is(s string) bool { return n != nil && n.kind == '"' && n.text == s }

// given says whether a member is there and not null.
func (n *node) given() bool { return n != nil && n.kind != 'n' }

func (n *node) object() bool { return n != nil && n.kind == '{' }

// all lists the values under a key; get is the last of them, or nil.
func (n *node) all(key string) (values []*node) {
	if n == nil {
		return nil
	}
	for _, m := range n.members {
		if m.key == key {
			values = append(values, m.value)
		}
	}
	return values
}

func (n *node) get(path ...string) *node {
	for _, key := range path {
		values := n.all(key)
		if len(values) == 0 {
			return nil
		}
		n = values[len(values)-1]
	}
	return n
}

// ambiguous says whether anything below n can be read in two ways. The values of
// skip are looked over.
func (n *node) ambiguous(skip ...*node) bool {
	if n == nil {
		return false
	}
	for _, s := range skip {
		if n == s {
			return false
		}
	}
	if n.bad {
		return true
	}
	seen := map[string]bool{}
	for _, m := range n.members {
		if m.bad || seen[m.key] || m.value.ambiguous(skip...) {
			return true
		}
		seen[m.key] = true
	}
	for _, e := range n.elements {
		if e.ambiguous(skip...) {
			return true
		}
	}
	return false
}
