package acp

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
)

func lenientlyValid(b []byte) bool {
	return jsontext.Value(b).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// FuzzWellFormed holds the own validator against the library's.
func FuzzWellFormed(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, ` [ 1 , -0.5e+3 , true , false , null , "a\u00e9\n" ] `, `{"a":{"b":[{},[]]},"a":1}`, `01`, `-`, `1.`, `1e`, `"\x"`, `"\u12g4"`,
		`{"a" 1}`, `{"a":1,}`, `[1,]`, `[}`, `{]`, `tru`, `""""`, `"long enough to be read eight bytes at a time \ud800"`, "\"\xff\"", "\"\x01\"", `{"a":1}x`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if strings.Count(string(b), "[")+strings.Count(string(b), "{") > 9000 {
			return // the library has a limit of its own
		}
		assert.Equal(t, lenientlyValid(b), wellFormed(b))
	})
}
