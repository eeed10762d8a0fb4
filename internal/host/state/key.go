package state

import (
	"encoding/hex"
	"strings"
)

// MaxKey is how long a key may be, in bytes. Three times that and the name of
// the bucket still fit into a subject.
const MaxKey = 512

// escape begins a byte that is no letter, digit or hyphen: "=" and two digits.
const escape = '='

const hexDigits = "0123456789abcdef"

// encodeKey makes a key of any bytes one that NATS takes. Letters, digits and
// hyphens stay readable.
func encodeKey(key string) (string, error) {
	if key == "" || len(key) > MaxKey {
		return "", ErrInvalidKey
	}
	var out strings.Builder
	for i := range len(key) {
		c := key[i]
		if plain(c) {
			out.WriteByte(c)
			continue
		}
		out.Write([]byte{escape, hexDigits[c>>4], hexDigits[c&15]})
	}
	return out.String(), nil
}

// decodeKey gives the key back; false: encodeKey did not make this one.
func decodeKey(encoded string) (string, bool) {
	var out []byte
	for i := 0; i < len(encoded); i++ {
		c := encoded[i]
		switch {
		case plain(c):
			out = append(out, c)
		case c == escape && i+2 < len(encoded):
			b, err := hex.DecodeString(encoded[i+1 : i+3])
			if err != nil {
				return "", false
			}
			out = append(out, b[0])
			i += 2
		default:
			return "", false
		}
	}
	again, err := encodeKey(string(out))
	return string(out), err == nil && again == encoded
}

func plain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-'
}
