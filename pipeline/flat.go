package pipeline

import "strings"

// FlatName is the name of a server or a tool as agents write it into a qualified
// name: each character outside [A-Za-z0-9_-] becomes "_". Agents differ in what
// they take for a character (a code point, a UTF-16 unit, a byte); the results
// differ only by more than one "_" in a row, which no unambiguous name contains.
func FlatName(name string) string {
	for i := 0; i < len(name); i++ {
		if !nameByte(name[i]) {
			return strings.Map(flatten, name)
		}
	}
	return name
}

func flatten(r rune) rune {
	if r < 0x80 && nameByte(byte(r)) {
		return r
	}
	return '_'
}

// nameByte says whether a byte can stand in the name of a server or a tool.
func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
