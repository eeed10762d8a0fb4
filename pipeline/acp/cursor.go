package acp

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline"
)

// errShape is a member of another JSON type than the protocol gives it.
var errShape = errors.New("acp: a member has the wrong JSON type")

// cursor reads one line with the strict decoder: duplicate keys, invalid UTF-8
// and lone surrogates are errors. Cursors are pooled.
type cursor struct {
	line    []byte
	dec     jsontext.Decoder
	buf     bytes.Buffer
	scratch []byte
	members []pipeline.Member
	options []pipeline.Option
	nodes   int
	raw     rawValue
	shallow shallowObject
}

var cursors = sync.Pool{New: func() any { return new(cursor) }}

func newCursor(text []byte, opts ...jsontext.Options) *cursor {
	c := cursors.Get().(*cursor)
	c.line = text
	c.buf = *bytes.NewBuffer(text)
	c.dec.Reset(&c.buf, opts...)
	c.nodes = 0
	return c
}

// release forgets everything of the line before the cursor is used again.
func (c *cursor) release() {
	c.line, c.buf = nil, bytes.Buffer{}
	c.dec.Reset(&c.buf)
	clear(c.members[:cap(c.members)])
	clear(c.options[:cap(c.options)])
	c.members, c.options = c.members[:0], c.options[:0]
	c.raw, c.shallow = nil, shallowObject{}
	if cap(c.scratch) > keepBuffer || cap(c.options) > 1024 {
		return
	}
	cursors.Put(c)
}

// object calls member for each member of the next value, which must be an
// object. The key is valid until member reads the value, which it must do.
func (c *cursor) object(member func(key []byte) error) error {
	if c.dec.PeekKind() != '{' {
		return c.skipWrong()
	}
	if _, err := c.dec.ReadToken(); err != nil {
		return err
	}
	for c.dec.PeekKind() == '"' {
		quoted, err := c.dec.ReadValue()
		if err != nil {
			return err
		}
		key, err := c.unquote(quoted)
		if err != nil {
			return err
		}
		if err := member(key); err != nil {
			return err
		}
	}
	_, err := c.dec.ReadToken() // '}', or whatever is wrong
	return err
}

// objectOrSkip is object for a value that may be of another type.
func (c *cursor) objectOrSkip(member func(key []byte) error) error {
	if c.dec.PeekKind() != '{' {
		return c.skip()
	}
	return c.object(member)
}

// array calls element for each element of the next value, which must be an array.
func (c *cursor) array(element func() error) error {
	if c.dec.PeekKind() != '[' {
		return c.skipWrong()
	}
	if _, err := c.dec.ReadToken(); err != nil {
		return err
	}
	for kind := c.dec.PeekKind(); kind != ']' && kind != 0; kind = c.dec.PeekKind() {
		if err := element(); err != nil {
			return err
		}
	}
	_, err := c.dec.ReadToken()
	return err
}

// end makes sure that nothing follows.
func (c *cursor) end() error {
	if _, err := c.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errShape
	}
	return nil
}

func (c *cursor) skip() error {
	_, err := c.dec.ReadValue()
	return err
}

// skipWrong reads over a value of the wrong type.
func (c *cursor) skipWrong() error {
	if err := c.skip(); err != nil {
		return err
	}
	return errShape
}

// unquote gives the bytes of a quoted string, valid until the next call.
func (c *cursor) unquote(quoted []byte) ([]byte, error) {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner, nil
	}
	var err error
	c.scratch, err = jsontext.AppendUnquote(c.scratch[:0], quoted)
	return c.scratch, err
}

// string reads a value that must be a string.
func (c *cursor) string() (string, error) {
	if c.dec.PeekKind() != '"' {
		return "", c.skipWrong()
	}
	quoted, err := c.dec.ReadValue()
	if err != nil {
		return "", err
	}
	text, err := c.unquote(quoted)
	return keep(text), err
}

// text reads a member that should be a string; null counts as absent.
func (c *cursor) text() (pipeline.Text, error) {
	switch c.dec.PeekKind() {
	case 'n':
		return pipeline.Text{}, c.skip()
	case '"':
		quoted, err := c.dec.ReadValue()
		if err != nil {
			return pipeline.Text{}, err
		}
		text, err := c.unquote(quoted)
		if len(text) > pipeline.MaxText {
			return pipeline.TooLong(), err
		}
		return pipeline.NewText(keep(text)), err
	}
	return pipeline.WrongType(), c.skip()
}

// rawValue skips one value that needs to be no more than well-formed JSON.
type rawValue []byte

// UnmarshalJSONFrom reads over the value.
func (r *rawValue) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	_, err := dec.ReadValue()
	return err
}

// skipLenient reads over a value in which duplicate keys and bad text are the
// model's own business.
func (c *cursor) skipLenient() error {
	switch c.dec.PeekKind() {
	case 'n', 't', 'f', '0':
		return c.skip()
	}
	return json.UnmarshalDecode(&c.dec, &c.raw, lenient...)
}

// readability says what a line is that the strict decoder did not take: well
// formed JSON that is ambiguous, or no JSON object at all.
func readability(f Frame) error {
	if f.deep || jsontext.Value(f.Line).IsValid(lenient...) {
		return errUnreadable
	}
	return ErrNoise
}
