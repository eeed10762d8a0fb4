package pending

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kandev/assent/internal/display"
)

// A mask as it is written, and what stands for one in a [view].
const (
	maskOpen = "[hidden:"
	aMask    = 0x01
)

func maskOf(characters int) string { return maskOpen + strconv.Itoa(characters) + "]" }

// maskAt is how long the mask is that a text begins with, and how many characters
// it hides; 0 for none.
func maskAt(s string) (size, hidden int) {
	if !strings.HasPrefix(s, maskOpen) {
		return 0, 0
	}
	at := len(maskOpen)
	for at < len(s) && at < len(maskOpen)+5 && s[at] >= '0' && s[at] <= '9' {
		hidden = hidden*10 + int(s[at]-'0')
		at++
	}
	if at == len(maskOpen) || at == len(s) || s[at] != ']' {
		return 0, 0
	}
	return at + 1, hidden
}

// isMasked says whether there is a mask in a text, and nothing else that could be
// a part of a credential.
func isMasked(text string) bool {
	return strings.IndexByte(text, aMask) >= 0 &&
		strings.IndexFunc(text, func(r rune) bool { return r != aMask && (r >= utf8.RuneSelf || isAlnum(byte(r))) }) < 0
}

// view is a text as the rules read it: without characters that nobody sees, so
// that none of them can break a credential in two, with one kind of space, and
// with one character for each mask.
type view struct {
	source string
	text   string
	from   []int32 // where each byte of text stands in the source; nil: at the same place
	end    int     // how much of the source was read
	cut    bool
}

func newView(s string, input int) view {
	v := view{source: s, text: strings.TrimSuffix(s, display.Ellipsis)} // which says that it was cut before
	if len(v.text) > input {
		v.cut = true
		end := input
		for end > input-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		v.text = s[:end]
	}
	v.end = len(v.text)
	if !visible(v.text) {
		v.reduce()
	}
	return v
}

// reduce makes the text that the rules read.
func (v *view) reduce() {
	s := v.text
	text := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		masked, _ := maskAt(s[i:])
		switch {
		case masked > 0:
			text, v.from = append(text, aMask), append(v.from, int32(i))
			size = masked
		case r == '\n' || r == '\r' || r == '\t':
			text, v.from = append(text, byte(r)), append(v.from, int32(i))
		case unicode.Is(unicode.Zs, r):
			text, v.from = append(text, ' '), append(v.from, int32(i))
		case r == utf8.RuneError && size == 1, unseen(r):
		default:
			text = append(text, s[i:i+size]...)
			for range size {
				v.from = append(v.from, int32(i))
			}
		}
		i += size
	}
	if v.text = string(text); v.from == nil {
		v.from = []int32{}
	}
}

// length is how many characters a part has, with those that masks in it hide.
func (v *view) length(m span) int {
	n := 0
	for i, r := range v.text[m.from:m.to] {
		if n++; r == aMask {
			_, hidden := maskAt(v.source[v.from[m.from+i]:])
			n += hidden - 1
		}
	}
	return n
}

// visible says whether a text is as the rules want it.
func visible(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c == 0x7f || c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
	}
	return !strings.Contains(s, maskOpen)
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
