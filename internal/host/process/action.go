package process

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/pipeline"
)

// Bounds of what is read for a person, in bytes.
const (
	maxActionText = 4 << 10
	maxArguments  = 16 << 10
	maxMessage    = 64 << 10
)

// offerAction reads what the frame of an offer says about the action. Kind and
// title are those of the effective call, which earlier updates may have given.
func offerAction(line []byte, req *pipeline.Request, id pipeline.Identity) Action {
	r := reader{}
	r.read(line, func(key string) {
		if key != "params" {
			r.skip()
			return
		}
		r.object(func(key string) {
			switch key {
			case "toolCall":
				r.call()
			case "subject":
				r.object(r.subjectMember)
			case "title":
				r.seen.prompt = r.text(maxActionText)
			case "description":
				r.seen.description = r.text(maxActionText)
			default:
				r.skip()
			}
		})
	})
	a := r.seen.action(id.State() == pipeline.Named)
	if kind, ok := req.Call.Kind.Value(); ok {
		a.Type = r.cut(kind, maxActionText)
	}
	if title, ok := req.Call.Title.Value(); ok {
		a.Title = r.cut(title, maxActionText)
	}
	a.Prompt, a.Description, a.Subject = r.seen.prompt, r.seen.description, r.seen.subject.object()
	a.Server, a.Tool, a.Cut = id.Server(), id.Tool(), r.wasCut
	return a
}

// callSeen is what one frame says about a tool call.
type callSeen struct {
	session, update, id, name string
	kind, title, status, text string

	command, destination, arguments, diff, content string
	inputPaths, paths                              []string
	rest                                           rest // of the raw input
	unread                                         bool // the raw input is no object

	prompt, description string
	subject             rest
}

// rest collects members of an object that have no place of their own.
type rest struct{ members string }

// add adds a member, as long as there is room for it and said is false when there
// is not. Nobody reads a member of which only a part is there as JSON.
func (m *rest) add(key string, value []byte) (whole bool) {
	name, _ := jsontext.AppendQuote(nil, key)
	short := value[:min(len(value), max(0, maxArguments-len(m.members)))]
	if m.members != "" {
		m.members += ","
	}
	m.members += string(name) + ":" + string(short)
	return len(short) == len(value)
}

// object is what was collected; empty for nothing.
func (m *rest) object() string {
	if m.members == "" {
		return ""
	}
	return display.Cut("{"+m.members+"}", maxArguments)
}

// action is what the call would do. The raw input of a known MCP tool is the
// model's own text and says nothing about a command, path or destination.
func (s *callSeen) action(known bool) Action {
	a := Action{Type: s.kind, Title: s.title, Arguments: s.arguments, Diff: s.diff, Content: s.content, Rest: s.arguments}
	paths := s.paths
	if !known {
		a.Command, a.Destination = s.command, s.destination
		if !s.unread {
			a.Rest = s.rest.object()
		}
		paths = append(slices.Clone(s.inputPaths), paths...)
	}
	for _, p := range paths {
		switch {
		case slices.Contains(a.Paths, p):
		case len(a.Paths) == MaxPaths:
			a.MorePaths++
		default:
			a.Paths = append(a.Paths, p)
		}
	}
	return a
}

// reader reads for a person: leniently, bounded, and never to decide anything.
type reader struct {
	dec    *jsontext.Decoder
	bad    bool
	wasCut bool
	seen   callSeen
}

func (r *reader) read(line []byte, member func(key string)) {
	r.dec = jsontext.NewDecoder(bytes.NewBuffer(line), lenient)
	r.object(member)
}

// object calls member, which has to read or skip the value, for each member of
// the next value; a value of another type is skipped.
func (r *reader) object(member func(key string)) {
	if r.bad || r.dec.PeekKind() != '{' {
		r.skip()
		return
	}
	r.token()
	for !r.bad && r.dec.PeekKind() == '"' {
		member(r.text(maxActionText))
	}
	r.token()
}

func (r *reader) array(element func()) {
	if r.bad || r.dec.PeekKind() != '[' {
		r.skip()
		return
	}
	r.token()
	for kind := r.dec.PeekKind(); !r.bad && kind != ']' && kind != 0; kind = r.dec.PeekKind() {
		element()
	}
	r.token()
}

func (r *reader) token() {
	if !r.bad {
		_, err := r.dec.ReadToken()
		r.bad = err != nil
	}
}

func (r *reader) value() jsontext.Value {
	if r.bad {
		return nil
	}
	v, err := r.dec.ReadValue()
	if r.bad = err != nil; r.bad {
		return nil
	}
	return v
}

func (r *reader) skip() { r.value() }

// text reads at most limit bytes of a string; a value of another type is empty.
func (r *reader) text(limit int) string {
	v := r.value()
	if len(v) == 0 || v.Kind() != '"' {
		return ""
	}
	short := cutQuoted(v, limit)
	r.wasCut = r.wasCut || len(short) < len(v)
	text, _ := jsontext.AppendUnquote(nil, short) // bad text is replaced
	return r.cut(string(text), limit)
}

// raw gives at most limit bytes of the next value as it stands.
func (r *reader) raw(limit int) string {
	v := r.value()
	r.wasCut = r.wasCut || len(v) > limit
	return r.cut(string(v[:min(len(v), limit+1)]), limit)
}

func (r *reader) cut(s string, limit int) string {
	r.wasCut = r.wasCut || len(s) > limit
	return display.Cut(s, limit)
}

// cutQuoted shortens a quoted string to about limit bytes, and never within an
// escape: unquoting a long one only to cut it would cost its whole length.
func cutQuoted(v []byte, limit int) []byte {
	const longest = len(`\ud83d\ude80`)
	if len(v) <= limit*longest {
		return v
	}
	at := 1
	for at < limit*longest {
		size := 1
		if v[at] == '\\' {
			if size = 2; v[at+1] == 'u' {
				size = 6
			}
		}
		if at+size >= len(v) {
			return v
		}
		at += size
	}
	return append(slices.Clone(v[:at]), '"')
}
