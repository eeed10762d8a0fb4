package stages

import "unicode/utf8"

// becomes says whether agents may write a name as flat: it is the same, also after
// each character outside [A-Za-z0-9_-] became "_". Agents differ in what they
// replace by one "_": a code point, a UTF-16 unit or a byte. All three agree here,
// since two of them in a row make "__", which no flat name contains.
func becomes(name, flat string) bool {
	for _, r := range name {
		if flat == "" {
			return false
		}
		if r >= utf8.RuneSelf || !nameByte(byte(r)) {
			r = '_'
		}
		if rune(flat[0]) != r {
			return false
		}
		flat = flat[1:]
	}
	return flat == ""
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
