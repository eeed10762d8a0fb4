package pending

import (
	"slices"
	"strings"
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

// maxPasses is how often a text is looked at. The second look finds nothing in
// nearly every text.
const maxPasses = 8

// Redact makes one line of at most limit bytes of s that everybody may see.
// Whatever looks like a credential is masked, as in [hidden:24], where the
// number is how many characters it had; hidden characters are written visibly.
// It would rather mask too much than too little, but it never masks a command
// substitution: a person would approve what nobody can see.
//
// What it returns stays as it is when it is redacted again: a text that was cut
// or escaped must not look like something else than before.
func Redact(s string, limit int) string {
	limit = min(limit, maxInput)
	input := max(inputFactor*limit, minInput)
	for range maxPasses {
		next := fit(mask(s, min(input, maxInput)), limit)
		if next == s {
			return s
		}
		s = next
	}
	return fit(maskOf(utf8.RuneCountInString(s)), limit)
}

// fit cuts a text that is too long, and never within a mask.
func fit(s string, limit int) string {
	text := line(s, limit)
	body, cut := strings.CutSuffix(text, display.Ellipsis)
	if !cut || text == s {
		return text
	}
	if at := strings.LastIndex(body, maskOpen); at >= 0 && strings.IndexByte(body[at:], ']') < 0 {
		return body[:at] + display.Ellipsis
	}
	for n := len(maskOpen) - 1; n > 0; n-- {
		if strings.HasSuffix(body, maskOpen[:n]) {
			return body[:len(body)-n] + display.Ellipsis
		}
	}
	return text
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
	if len(spans) == 0 && !v.cut {
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
		if m.to <= m.from || isMasked(v.text[m.from:m.to]) {
			continue
		}
		b.WriteString(s[at:v.origin(m.from)])
		b.WriteString(maskOf(v.length(m)))
		at = v.origin(m.to)
	}
	b.WriteString(s[at:v.end])
	if v.cut {
		b.WriteString(display.Ellipsis)
	} else {
		b.WriteString(s[v.end:])
	}
	return b.String()
}
