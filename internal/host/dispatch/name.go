package dispatch

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// internalPrefix begins the names of internal actions.
const internalPrefix = "mcp."

// Internal says whether a name is that of an internal action, or could be read as
// one: whether its canonical form begins with "mcp.". There is no list of names, so
// an action that does not exist yet is internal, too.
func Internal(name string) bool { return strings.HasPrefix(canonical(name), internalPrefix) }

// canonical is a name in NFKC, case folded, without invisible characters and without
// space at its ends. What is stripped may have kept a letter from its neighbour, and
// folding may bring forth what NFKC changes once more: so it goes round until
// nothing changes.
func canonical(name string) string {
	if plain(name) {
		return name
	}
	for range 8 { // three rounds suffice for all that is known; a longer chain stays as it is
		next := strings.Map(visible, name)
		next = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(next)))
		next = strings.TrimSpace(next)
		if next == name {
			break
		}
		name = next
	}
	return name
}

// plain says whether a name is nothing but small ASCII letters, digits and signs.
func plain(name string) bool {
	for _, b := range []byte(name) {
		if b <= ' ' || b >= 0x7f || 'A' <= b && b <= 'Z' {
			return false
		}
	}
	return true
}

// visible drops characters that show nothing: controls other than white space,
// format characters, and whatever else Unicode calls ignorable.
func visible(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return r
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return -1
	}
	return r
}
