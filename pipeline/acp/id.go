package acp

import (
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// ID is a JSON-RPC id in its exact text: 0, "1", 1 and 9007199254740993 are four
// different ids. The zero value is no id.
type ID struct{ text string }

// NewID is the id with the given JSON text, such as 7 or "7".
func NewID(text string) ID { return ID{text: text} }

// newID takes an id from a line. Bytes that are no UTF-8 become U+FFFD, which is
// also what the peer will make of them: an answer has to be good JSON.
func newID(value []byte) ID {
	if utf8.Valid(value) {
		return ID{text: string(value)}
	}
	return ID{text: string([]rune(string(value)))} // one for each byte
}

// String is the JSON text of the id, empty for no id.
func (id ID) String() string { return id.text }

// Present says whether the message had an id member at all.
func (id ID) Present() bool { return id.text != "" }

// Valid says whether the id is a string or a number, which is all that JSON-RPC
// allows for a request that wants an answer.
func (id ID) Valid() bool {
	if id.text == "" {
		return false
	}
	c := id.text[0]
	return c == '"' || c == '-' || c >= '0' && c <= '9'
}

// Key is the same for two spellings of one string id, as in "a" and "\u0061",
// and different for any two other ids: a number keeps its digits.
func (id ID) Key() string {
	if id.text == "" || id.text[0] != '"' {
		return id.text
	}
	value, err := jsontext.AppendUnquote(nil, id.text)
	if err != nil {
		return id.text
	}
	return `"` + string(value)
}
