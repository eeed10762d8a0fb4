package frame

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Lenient reads what nothing is decided by, or what the strict decoder has judged
// already: real agents send odd things, and duplicate keys and bad text in the
// model's own text are its own business.
var Lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Walker walks JSON leniently, as far as it can be read. Nothing is found behind the
// first mistake.
type Walker struct {
	source []byte
	dec    *jsontext.Decoder
	bad    bool
}

// Walk begins with the first value of a source.
func Walk(source []byte) *Walker {
	return &Walker{source: source, dec: jsontext.NewDecoder(bytes.NewBuffer(source), Lenient)}
}

// Bad says whether a mistake was met.
func (w *Walker) Bad() bool { return w.bad }

// Kind is that of the next value: its first byte, with a 0 for numbers; the zero
// value when there is none.
func (w *Walker) Kind() jsontext.Kind {
	if w.bad {
		return 0
	}
	return w.dec.PeekKind()
}

func (w *Walker) token() {
	if !w.bad {
		_, err := w.dec.ReadToken()
		w.bad = err != nil
	}
}

// Value reads the next value and returns its place in the source; nil when there
// is none.
func (w *Walker) Value() []byte {
	if w.bad {
		return nil
	}
	v, err := w.dec.ReadValue()
	if w.bad = err != nil; w.bad {
		return nil
	}
	end := w.dec.InputOffset()
	return w.source[end-int64(len(v)) : end]
}

// Object calls member, which has to read the value, for each member of the next
// value, with its name as it stands. A value of another type is skipped.
func (w *Walker) Object(member func(key []byte)) {
	if w.Kind() != '{' {
		w.Value()
		return
	}
	w.token()
	for w.Kind() == '"' {
		member(w.Value())
	}
	w.token()
}
