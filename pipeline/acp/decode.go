package acp

import (
	"errors"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline"
)

// errShape is a member of another JSON type than the protocol gives it.
var errShape = errors.New("acp: a member has the wrong JSON type")

// reading walks one message whose text was checked. Every method that reads a
// value begins where the value begins and moves behind it; a value that nobody
// reads is skipped. Readings are pooled.
type reading struct {
	text    []byte // what is walked
	pos     int
	cut     []byte // memory for a message without what was cut out
	scratch []byte // the last string that had escapes
	members []pipeline.Member
	highest int // how far members was filled
	options []pipeline.Option
	cost    int    // about how many bytes the metadata takes
	last    string // the last longer text that was kept
}

var readings = sync.Pool{New: func() any { return new(reading) }}

// mostly is the length in bytes up to which a message is first tried as it
// stands, before anything is cut out of it.
const mostly = 4 << 10

// read checks a message strictly: no duplicate key, no invalid UTF-8, no lone
// surrogate, all of which readers take in different ways. Values where well-formed
// JSON is enough are cut out before. From then on the text can be walked without
// looking for errors. The line must not change until release.
func read(line []byte, top level) (*reading, bool) {
	r := readings.Get().(*reading)
	r.text, r.pos = line, 0
	if len(line) <= mostly && jsontext.Value(line).IsValid() {
		return r, true
	}
	k := cutter{line: line, out: r.cut[:0]}
	_, ok := k.object(top, 0)
	r.cut = append(k.out, line[k.from:]...)
	r.text = r.cut
	return r, ok && jsontext.Value(r.text).IsValid()
}

// release forgets what was decoded before the memory is used again.
func (r *reading) release() {
	r.text, r.last = nil, ""
	if cap(r.cut) > keepBuffer || cap(r.scratch) > keepBuffer || cap(r.options) > 1024 {
		return
	}
	clear(r.members[:r.highest])
	clear(r.options)
	r.members, r.highest, r.options, r.cost = r.members[:0], 0, r.options[:0], 0
	readings.Put(r)
}

// params calls member for each member of the message's params.
func (r *reading) params(member func(key []byte) error) error {
	return r.object(func(key []byte) error {
		if string(key) != "params" {
			return nil
		}
		return r.object(member)
	})
}

// kind is the first byte of the value.
func (r *reading) kind() byte { return r.text[r.pos] }

// object calls member for each member of a value that must be an object. The key
// is valid until member reads the value.
func (r *reading) object(member func(key []byte) error) error {
	if r.kind() != '{' {
		return errShape
	}
	s := scanner{b: r.text, pos: r.pos + 1}
	for s.nextKey() {
		r.pos = s.pos
		if err := member(r.unquote(s.key, s.keyEsc)); err != nil {
			return err
		}
		if r.pos == s.pos {
			r.skip()
		}
		s.pos = r.pos
	}
	r.pos = s.pos
	return nil
}

// array calls element for each element of a value that must be an array.
func (r *reading) array(element func() error) error {
	if r.kind() != '[' {
		return errShape
	}
	r.pos = skipSpace(r.text, r.pos+1)
	for r.kind() != ']' {
		start := r.pos
		if err := element(); err != nil {
			return err
		}
		if r.pos == start {
			r.skip()
		}
		if r.pos = skipSpace(r.text, r.pos); r.kind() == ',' {
			r.pos = skipSpace(r.text, r.pos+1)
		}
	}
	r.pos++
	return nil
}

// skip moves over a value.
func (r *reading) skip() {
	s := scanner{b: r.text, pos: r.pos}
	s.skipValue()
	r.pos = s.pos
}

// attempt reads a value that may be of another type; then it is skipped.
func (r *reading) attempt(read func() error) bool {
	start := r.pos
	if read() == nil {
		return true
	}
	r.pos = start
	r.skip()
	return false
}

// unquote gives the bytes of a quoted string, valid until the next call.
func (r *reading) unquote(quoted []byte, escaped bool) []byte {
	if !escaped {
		return quoted[1 : len(quoted)-1]
	}
	r.scratch, _ = jsontext.AppendUnquote(r.scratch[:0], quoted) // was checked
	return r.scratch
}

// string reads a string that is there, valid until the next one is read.
func (r *reading) string() []byte {
	start := r.pos
	end, escaped := stringEnd(r.text, start+1)
	r.pos = end
	return r.unquote(r.text[start:end], escaped)
}

// keep copies text out of the message. Frequent words, and what was kept just
// before, cost no allocation: adapters repeat the tool's name as title and in
// the metadata.
func (r *reading) keep(text []byte) string {
	if string(text) == r.last {
		return r.last
	}
	kept := keep(text)
	if len(kept) > 16 {
		r.last = kept
	}
	return kept
}

// required reads a value that must be a string.
func (r *reading) required() (string, error) {
	if r.kind() != '"' {
		return "", errShape
	}
	return r.keep(r.string()), nil
}

// optional reads a string; what is no string counts as empty.
func (r *reading) optional() string {
	if r.kind() != '"' {
		r.skip()
		return ""
	}
	return r.keep(r.string())
}

// member reads a value that should be a string; null counts as absent.
func (r *reading) member() pipeline.Text {
	switch r.kind() {
	case 'n':
		r.skip()
		return pipeline.Text{}
	case '"':
		text := r.string()
		if len(text) > pipeline.MaxText {
			return pipeline.TooLong()
		}
		return pipeline.NewText(r.keep(text))
	}
	r.skip()
	return pipeline.WrongType()
}

// readability says what a line is that was not taken: well-formed JSON that is
// ambiguous or lacks something, or no JSON object at all.
func readability(f Frame) error {
	if f.deep || wellFormed(f.Line) {
		return errUnreadable
	}
	return ErrNoise
}
