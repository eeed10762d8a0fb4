package pending

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kandev/assent/internal/display"
)

// How much of a text is looked at, in bytes: some times what can be shown, as
// masks are short.
const (
	inputFactor = 4
	maxInput    = 4096
	minInput    = 512
)

// Redact makes one line of at most limit bytes of s that everybody may see.
// Whatever looks like a credential is masked, as in [hidden:24], where the
// number is how many characters it had; hidden characters are written visibly.
// It would rather mask too much than too little, but it never masks a command
// substitution: a person would approve what nobody can see.
func Redact(s string, limit int) string {
	return line(mask(s, min(max(inputFactor*limit, minInput), maxInput)), limit)
}

// line is display.Line, without its cost for the usual text.
func line(s string, limit int) string {
	if len(s) <= limit && plain(s) {
		return s
	}
	return display.Line(s, limit)
}

func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// span is a part of a text, in bytes.
type span struct{ from, to int }

// mask replaces what looks like a credential. Of the text it reads so many bytes.
func mask(s string, input int) string {
	v := newView(s, input)
	spans := findSecrets(v.text)
	if v.cut {
		spans = append(spans, lastRun(v.text)) // perhaps half a credential
	}
	if len(spans) == 0 {
		return s
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for i := 0; i < len(spans); {
		m := spans[i]
		for i++; i < len(spans) && spans[i].from <= m.to; i++ {
			m.to = max(m.to, spans[i].to)
		}
		if m.to <= m.from {
			continue
		}
		b.WriteString(s[at:v.origin(m.from)])
		b.WriteString("[hidden:" + strconv.Itoa(utf8.RuneCountInString(v.text[m.from:m.to])) + "]")
		at = v.origin(m.to)
	}
	b.WriteString(s[at:v.end])
	if v.cut {
		b.WriteString(display.Ellipsis)
	}
	return b.String()
}

// view is a text as the rules read it: without characters that nobody sees, so
// that none of them can break a credential in two, and with one kind of space.
type view struct {
	text string
	from []int32 // where each byte of text stands in the original; nil: at the same place
	end  int     // how much of the original was read
	cut  bool
}

func newView(s string, input int) view {
	v := view{text: s, end: len(s)}
	if len(s) > input {
		v.cut, v.end = true, input
		for v.end > input-utf8.UTFMax && !utf8.RuneStart(s[v.end]) {
			v.end--
		}
		v.text = s[:v.end]
	}
	if visible(v.text) {
		return v
	}
	text := make([]byte, 0, len(v.text))
	for i := 0; i < len(v.text); {
		r, size := utf8.DecodeRuneInString(v.text[i:])
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			text, v.from = append(text, byte(r)), append(v.from, int32(i))
		case unicode.Is(unicode.Zs, r):
			text, v.from = append(text, ' '), append(v.from, int32(i))
		case r == utf8.RuneError && size == 1, unseen(r):
		default:
			text = append(text, v.text[i:i+size]...)
			for range size {
				v.from = append(v.from, int32(i))
			}
		}
		i += size
	}
	v.text = string(text)
	return v
}

// visible says whether a text is as the rules want it.
func visible(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c == 0x7f || c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
	}
	return true
}

// unseen says whether a character leaves no mark of its own.
func unseen(r rune) bool {
	return !unicode.IsPrint(r) ||
		unicode.In(r, unicode.M, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// origin is where a place in the text stands in the original. What nobody sees
// in front of a place belongs to what comes before it.
func (v *view) origin(i int) int {
	switch {
	case v.from == nil:
		return i
	case i < len(v.from):
		return int(v.from[i])
	}
	return v.end
}

func lastRun(s string) span {
	return span{strings.LastIndexAny(s, " \t\r\n") + 1, len(s)}
}
