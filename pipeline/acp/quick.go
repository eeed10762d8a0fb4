package acp

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline"
)

// quickFrame looks for the offer that real agents send: short, strictly good JSON,
// with its id and method before params. Such a line has exactly one reading, so
// nothing needs to be peeked at or cut out before it is decoded. False says
// nothing about the line: then it is read the long way.
func quickFrame(line []byte) (Frame, bool) {
	line = trimSpace(line)
	if len(line) == 0 || len(line) > mostly || line[0] != '{' {
		return Frame{}, false
	}
	f := Frame{Kind: KindRequest, Method: MethodRequestPermission, Line: line}
	return f, f.quickHead() && jsontext.Value(line).IsValid()
}

// quickOffer decodes the offer of a quick frame. False again says nothing.
func quickOffer(f Frame, req *pipeline.Request) bool {
	r := readings.Get().(*reading)
	r.text, r.pos = f.Line, 0
	defer r.release()
	var shape offerShape
	request := true
	err := r.object(func(key []byte) error {
		switch string(key) {
		case "params":
			return r.object(func(key []byte) error { return r.offerMember(key, req, &shape) })
		case "result", "error":
			request = false
		}
		return nil
	})
	return err == nil && request && shape.check() == nil
}

// quickHead reads the members before params: the method of an offer, and an id.
func (f *Frame) quickHead() bool {
	asks := false
	for s := (scanner{b: f.Line, pos: 1}); s.nextKey(); {
		if s.keyIs("params") {
			return asks && f.ID.Valid()
		}
		if !s.skipValue() || s.pos == s.from {
			return false
		}
		value := s.b[s.from:s.pos]
		switch {
		case s.keyIs("id"):
			f.ID = newID(value)
		case s.keyIs("method"):
			if asks = unquoted(value, MethodRequestPermission); !asks {
				return false
			}
		}
	}
	return false
}
