// Package display makes text from an agent fit for a person's eyes. Whatever
// could move the cursor, reorder the line, hide characters or break the encoding
// is written as a visible escape, and every text has a bound. The result is
// always valid UTF-8, at any bound.
//
// A backslash that the agent wrote itself stays as it is: commands are full of
// them, and a person needs to read commands.
//
// The marks ‹ and › are ours: [Quote] puts them around a text of an agent, and in
// such a text they are escaped. So what stands outside of them was never the
// agent's.
package display

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Ellipsis stands where a text was cut.
const Ellipsis = "…"

// maxSpaces is how many spaces may follow each other in a line. A longer run
// pushes what comes after it out of sight, so it is counted: \x20{3000}.
const maxSpaces = 16

// Marks of [Quote].
const (
	openQuote  = '‹'
	closeQuote = '›'
)

// maxMarks is how many combining marks may follow each other. More of them grow
// over the lines above and below.
const maxMarks = 4

// Line makes one line of at most limit bytes of s. Line feeds and tabs are
// escaped too.
func Line(s string, limit int) string {
	text, _ := Bounded(s, limit)
	return text
}

// Bounded is Line and says how many bytes of s did not fit. A person who judges
// a command has to know that there is more of it.
func Bounded(s string, limit int) (text string, left int) {
	return write(s, limit, false)
}

// Quote is Line between the marks that no text can contain, so that a text of an
// agent cannot be taken for a word of ours. An empty text is ‹›.
func Quote(s string, limit int) string {
	return string(openQuote) + Line(s, limit) + string(closeQuote)
}

// Text is Line for texts of several lines: line feeds stay, and tabs become
// spaces. CR LF counts as a line feed.
func Text(s string, limit int) string {
	text, _ := write(s, limit, true)
	return text
}

// Cut shortens s to at most limit bytes without splitting a character. It
// escapes nothing; bytes that are no UTF-8 become U+FFFD.
func Cut(s string, limit int) string {
	if limit < len(s) {
		end := max(limit, 0)
		for back := 0; back < utf8.UTFMax && end > 0 && !utf8.RuneStart(s[end]); back++ {
			end--
		}
		s = s[:end]
	}
	for s = strings.ToValidUTF8(s, "\uFFFD"); len(s) > max(limit, 0); { // U+FFFD may be longer
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}

// write escapes as much of s as fits.
func write(s string, limit int, lines bool) (string, int) {
	limit = max(limit, 0)
	var b strings.Builder
	b.Grow(min(len(s), limit) + len(Ellipsis))
	marks := maxMarks // none may begin a text: it would sit on what stands before
	fits := 0         // the length at which an ellipsis still fits
	fitsAt := 0       // and the place in s
	for at := 0; at < len(s); {
		piece, size := next(s[at:], lines, &marks)
		if b.Len()+len(piece) > limit {
			return ellipsis(b.String()[:fits], limit), len(s) - fitsAt
		}
		b.WriteString(piece)
		at += size
		if b.Len()+len(Ellipsis) <= limit {
			fits, fitsAt = b.Len(), at
		}
	}
	return b.String(), 0
}

func ellipsis(s string, limit int) string {
	if len(s)+len(Ellipsis) > limit {
		return s
	}
	return s + Ellipsis
}

// next is the visible form of the first character of s and its size in s.
func next(s string, lines bool, marks *int) (string, int) {
	r, size := utf8.DecodeRuneInString(s)
	mark := unicode.Is(unicode.M, r)
	if !mark {
		*marks = 0
	}
	switch {
	case r == utf8.RuneError && size == 1:
		return fmt.Sprintf(`\x%02x`, s[0]), 1
	case lines && r == '\n':
		*marks = maxMarks
		return "\n", 1
	case lines && r == '\t':
		return "    ", 1
	case lines && strings.HasPrefix(s, "\r\n"):
		*marks = maxMarks
		return "\n", 2
	case !lines && r == ' ':
		return spaces(len(s) - len(strings.TrimLeft(s, " ")))
	case mark && *marks >= maxMarks || hidden(r):
		return escape(r), size
	}
	if mark {
		*marks++
	}
	return s[:size], size
}

// spaces is a run of n of them.
func spaces(n int) (string, int) {
	if n > maxSpaces {
		return fmt.Sprintf(`\x20{%d}`, n), n
	}
	return " ", 1
}

// hidden says whether a character is invisible, moves the cursor, changes the
// order of others, or is a mark of ours.
func hidden(r rune) bool {
	switch {
	case r == ' ':
		return false
	case r == openQuote || r == closeQuote:
		return true
	case r == '\u2800': // the blank Braille pattern is a symbol without ink
		return true
	case !unicode.IsPrint(r): // control, format and bidi characters, other spaces, private use
		return true
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}
