package frame

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/internal/display"
)

// scanner collects texts from JSON that it walks.
type scanner struct {
	*Walker
	cut *bool // set when something is left out
}

func scan(source []byte, cut *bool) *scanner { return &scanner{Walk(source), cut} }

// object calls member, which has to read the value, for each member of the next
// value. One of another type is skipped.
func (s *scanner) object(member func(key string)) {
	s.Object(func(key []byte) { member(s.unquote(key, MaxText)) })
}

// array calls element, which has to read the value, for each element.
func (s *scanner) array(element func()) {
	if s.Kind() != '[' {
		s.Value()
		return
	}
	s.token()
	for kind := s.Kind(); kind != ']' && kind != 0; kind = s.Kind() {
		element()
	}
	s.token()
}

// text reads at most limit bytes of a string; a value of another type is empty.
func (s *scanner) text(limit int) string { return s.unquote(s.Value(), limit) }

func (s *scanner) unquote(v []byte, limit int) string {
	text, cut := Text(v, limit)
	*s.cut = *s.cut || cut
	return text
}

// raw is the JSON as it stands.
func (s *scanner) raw(v []byte, limit int) string {
	*s.cut = *s.cut || len(v) > limit
	return Raw(v, limit)
}

// words writes a list of texts as one line of a shell. It says no for a list that
// has something else in it.
func (s *scanner) words(list []byte, limit int) (string, bool) {
	var b strings.Builder
	ok, in := true, scan(list, s.cut)
	in.array(func() {
		if ok = ok && in.Kind() == '"'; !ok || b.Len() > limit {
			in.Value()
			return
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(shellWord(in.text(limit)))
	})
	*s.cut = *s.cut || b.Len() > limit
	return display.Cut(b.String(), limit), ok && !in.bad
}

// shellWord quotes a word that a shell would take apart.
func shellWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n\"'`$&|;<>()*?\\") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Text is at most limit bytes of a JSON string, and says whether that is not all
// of it. A value of another type is empty.
func Text(v []byte, limit int) (text string, cut bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	short := cutQuoted(v, limit)
	plain, _ := jsontext.AppendUnquote(nil, short) // what is no UTF-8 is replaced
	return display.Cut(string(plain), limit), len(short) < len(v) || len(plain) > limit
}

// Raw is at most limit bytes of JSON as it stands.
func Raw(v []byte, limit int) string { return display.Cut(string(v[:min(len(v), limit+1)]), limit) }

// cutQuoted shortens a quoted string to about limit bytes, and never within an
// escape: unquoting a long one only to cut it would cost its whole length.
func cutQuoted(v []byte, limit int) []byte {
	const longest = len(`\ud83d\ude80`)
	if len(v) <= limit*longest {
		return v
	}
	at := 1
	for at < limit*longest {
		size := 1
		if v[at] == '\\' {
			if size = 2; v[at+1] == 'u' {
				size = 6
			}
		}
		if at+size >= len(v) {
			return v
		}
		at += size
	}
	return append(bytes.Clone(v[:at]), '"')
}

// rest collects members that have no place of their own.
type rest struct{ members []byte }

// add adds a member, as long as there is room.
func (m *rest) add(key string, v []byte, cut *bool) {
	short := v[:min(len(v), max(0, MaxRest-len(m.members)))]
	*cut = *cut || len(short) < len(v)
	if len(m.members) > MaxRest {
		return
	}
	if len(m.members) > 0 {
		m.members = append(m.members, ',')
	}
	m.members, _ = jsontext.AppendQuote(m.members, key)
	m.members = append(append(m.members, ':'), short...)
}

// object is what was collected; empty for nothing.
func (m *rest) object() string {
	if len(m.members) == 0 {
		return ""
	}
	return display.Cut("{"+string(m.members)+"}", MaxRest)
}
