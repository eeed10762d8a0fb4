package frame

import (
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// Content is one thing that an agent shows with a call: the change of a file, or a
// note.
type Content struct {
	// Paths of the files that would change.
	Paths []string
	// Old and New are the texts before and after; either may be empty. Patch is
	// there instead when the agent sent one.
	Old, New, Patch string
	// Note is a text; what is neither that nor a change is given as JSON.
	Note string
	// Cut says that a text is not complete.
	Cut bool
}

// IsList says whether a call's content is a list that can be read to its end.
func IsList(content []byte) bool {
	return len(content) > 0 && content[0] == '[' && jsontext.Value(content).IsValid(Lenient)
}

// Contents reads the content of a call. Of each text it takes so many bytes.
func Contents(content []byte, limit int) iter.Seq[Content] {
	return func(yield func(Content) bool) {
		var cut bool
		s, more := scan(content, &cut), true
		s.array(func() {
			v := s.Value()
			if !more || v == nil {
				return
			}
			if c := readContent(v, limit); !c.empty() {
				more = yield(c)
			}
		})
	}
}

func (c *Content) empty() bool {
	return len(c.Paths) == 0 && c.Old == "" && c.New == "" && c.Patch == "" && c.Note == ""
}

// readContent reads a change of either protocol version, a text, or something
// else, which is shown as it is, without its metadata.
func readContent(v []byte, limit int) (c Content) {
	kind, r := "", reader{}
	var inner []byte
	s := scan(v, &c.Cut)
	s.object(func(key string) {
		switch key {
		case "type":
			kind = s.text(MaxText)
		case "path":
			r.paths.add(s.text(MaxText), &c.Cut)
		case "changes":
			s.array(func() { r.location(s) })
		case "oldText":
			c.Old = s.text(limit)
		case "newText":
			c.New = s.text(limit)
		case "patch":
			c.Patch = textMember(s.Value(), limit, &c.Cut)
		case "content":
			inner = s.Value()
		default:
			s.Value()
		}
	})
	c.Cut = c.Cut || r.frame.Cut
	switch kind {
	case "diff":
		c.Paths = r.paths.list
		return c
	case "terminal":
		return Content{} // its output comes later
	case "content":
		if c.Note = textMember(inner, limit, &c.Cut); c.Note != "" {
			return Content{Note: c.Note, Cut: c.Cut}
		}
		v = inner
	}
	c = Content{Cut: len(v) > limit}
	c.Note = Raw(WithoutMeta(v), limit)
	return c
}

// textMember is the text of an object.
func textMember(v []byte, limit int, cut *bool) (text string) {
	s := scan(v, cut)
	s.object(func(key string) {
		if key == "text" {
			text = s.text(limit)
			return
		}
		s.Value()
	})
	return text
}

// WithoutMeta is an object without its metadata; other values stay as they are.
func WithoutMeta(v []byte) []byte {
	var cut, dropped bool
	b := []byte("{")
	s := scan(v, &cut)
	if s.Kind() != '{' {
		return v
	}
	s.object(func(key string) {
		member := s.Value()
		if key == "_meta" {
			dropped = true
			return
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, key)
		b = append(append(b, ':'), member...)
	})
	if !dropped {
		return v
	}
	return append(b, '}')
}
