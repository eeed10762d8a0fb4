package pipeline

import "strings"

// FlatName is the name of a server or a tool as agents write it into a qualified
// name: each character outside [A-Za-z0-9_-] becomes "_". Agents differ in what
// they take for a character (a code point, a UTF-16 unit, a byte); the results
// differ only by more than one "_" in a row, which no unambiguous name contains.
func FlatName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}
