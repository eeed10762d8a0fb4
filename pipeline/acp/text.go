package acp

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// specials marks, in the high bit of each byte, where the eight bytes hold a
// quote, a backslash or a control character. The lowest mark is exact.
func specials(x uint64) uint64 {
	quote, slash := x^(ones*'"'), x^(ones*'\\')
	return ((x-ones*' ')&^x | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}

// marks is specials without the control characters.
func marks(x uint64) uint64 {
	quote, slash := x^(ones*'"'), x^(ones*'\\')
	return ((quote-ones)&^quote | (slash-ones)&^slash) & highs
}

// stringEnd is where the string ends whose first byte behind the quote is at i:
// the place behind its closing quote, or -1, and whether it has escapes. Whether
// the string is good is not its business.
func stringEnd(b []byte, i int) (end int, escaped bool) {
	for range 4 { // most strings are short
		if i+8 > len(b) {
			break
		}
		mask := marks(binary.LittleEndian.Uint64(b[i:]))
		if mask == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(mask) / 8
		switch b[i] {
		case '"':
			return i + 1, escaped
		case '\\':
			escaped = true
			i++ // and what it escapes
		}
		i++
	}
	return longStringEnd(b, i, escaped)
}

func longStringEnd(b []byte, i int, escaped bool) (end int, _ bool) {
	start := i
	for i < len(b) {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1, escaped
		}
		end = i + n
		slashes := 0
		for j := end - 1; j >= start && b[j] == '\\'; j-- {
			slashes++
		}
		i = end + 1
		if slashes%2 == 0 {
			return i, escaped || bytes.IndexByte(b[start:end], '\\') >= 0
		}
	}
	return -1, escaped
}
