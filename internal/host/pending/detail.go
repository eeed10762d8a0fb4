package pending

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/internal/display"
)

// Detail is what a person who is at the machine may see of an open offer on
// request: everything that is needed to judge it, with hidden characters written
// visibly, but nothing masked. It is made anew for each call. It belongs in no
// log, no cache, and on no remote surface.
type Detail struct {
	// Title in the agent's own words, whole.
	Title string
	// Arguments as JSON text.
	Arguments string
	// Changes of files.
	Changes []Change
	// Notes are texts that the agent shows beside them.
	Notes []string
	// Left is how many bytes more there are than are shown.
	Left int
}

// Change is what would become of one file.
type Change struct {
	Path string
	// Old and New are the texts before and after. Either may be empty.
	Old, New string
	// Patch is there instead when the agent sent one.
	Patch string
}

// LogValue hides everything.
func (d Detail) LogValue() slog.Value { return slog.StringValue("(hidden)") }

// Format hides everything from fmt.
func (d Detail) Format(w fmt.State, _ rune) { _, _ = w.Write([]byte("(hidden)")) }

// Detail shows a person the arguments or the diff of one open offer. Whoever
// calls it has made sure that it is a person who may see them.
func (s *Store) Detail(key Key) (Detail, error) {
	s.mu.Lock()
	e, err := s.find(key, Answer{})
	s.mu.Unlock()
	if err != nil {
		return Detail{}, err
	}
	src := unpack(e.detail)
	return src.render(), nil
}

// source is what is kept of an open offer for [Store.Detail].
type source struct {
	title, arguments, content string
	left                      int // bytes that were not kept
}

// sourceHeader is the size of what stands in front of a packed source: the sizes
// of title and arguments, and what is left, in four bytes each.
const sourceHeader = 12

// pack makes one string of a source; an empty one for an empty source. Offers are
// many, and every string costs more than its text.
func (s *source) pack() string {
	if s.title == "" && s.arguments == "" && s.content == "" && s.left == 0 {
		return ""
	}
	b := make([]byte, 0, sourceHeader+len(s.title)+len(s.arguments)+len(s.content))
	for _, n := range []int{len(s.title), len(s.arguments), s.left} {
		b = binary.BigEndian.AppendUint32(b, uint32(min(n, math.MaxUint32)))
	}
	return string(append(append(append(b, s.title...), s.arguments...), s.content...))
}

func unpack(packed string) (s source) {
	if packed == "" {
		return source{}
	}
	size := func(i int) int { return int(binary.BigEndian.Uint32([]byte(packed[4*i : 4*i+4]))) }
	text := packed[sourceHeader:]
	title, arguments := size(0), size(0)+size(1)
	return source{title: text[:title], arguments: text[title:arguments], content: text[arguments:], left: size(2)}
}

// smallDetail is what is kept of an offer when all of them together have too much.
const smallDetail = 4 << 10

// newSource copies what a person may see, up to a size. First comes the title,
// then the arguments, as the diff is mostly made of them.
func newSource(title string, c *call, limit int) source {
	var src source
	take := func(text []byte) string {
		n := min(len(text), limit)
		for n < len(text) && n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		limit -= n
		src.left += len(text) - n
		return string(text[:n])
	}
	arguments := c.rawInput
	if c.other != nil {
		arguments = withoutMeta(c.other)
	}
	src.title = take([]byte(title))
	src.arguments = take(arguments)
	src.content = take(c.content)
	return src
}

// withoutMeta writes an object without its metadata.
func withoutMeta(object []byte) []byte {
	b := []byte("{")
	for m := range members(object) {
		if m.is("_meta") {
			continue
		}
		if len(b) > 1 {
			b = append(b, ", "...)
		}
		b = append(append(append(b, m.key...), ": "...), m.value...)
	}
	return append(b, '}')
}

// hold counts a source as kept, until release, and packs it. When all of them
// together have too much, little is kept of it.
func (s *Store) hold(src source) string {
	packed := src.pack()
	if s.details.Add(int64(len(packed))) <= int64(s.config.MaxDetails) {
		return packed
	}
	s.release(packed)
	small := newSource(src.title, &call{rawInput: []byte(src.arguments), content: []byte(src.content)}, smallDetail)
	small.left += src.left
	packed = small.pack()
	s.details.Add(int64(len(packed)))
	return packed
}

func (s *Store) release(packed string) { s.details.Add(-int64(len(packed))) }

// maxRendered bounds each text of a detail: escapes make texts longer.
const maxRendered = 1 << 20

// render makes the detail. What was cut is shown as raw text.
func (s *source) render() Detail {
	show := func(text string) string { return display.Text(text, maxRendered) }
	d := Detail{Title: show(s.title), Arguments: show(s.arguments), Left: s.left}
	content := jsontext.Value(s.content)
	if s.content != "" && (content.Kind() != '[' || !content.IsValid(anyText...)) {
		d.Notes = []string{show(s.content)} // cut, or nothing that we know
		return d
	}
	for e := range elements(content) {
		change, note := readContent(e, show)
		if change != (Change{}) {
			d.Changes = append(d.Changes, change)
		}
		if note != "" {
			d.Notes = append(d.Notes, note)
		}
	}
	return d
}

// readContent reads one element of a tool call's content: a diff of either
// protocol version, a text, or something else, which is shown as it is.
func readContent(element []byte, show func(string) string) (Change, string) {
	switch unquote(find(element, "type")) {
	case "diff":
		change := Change{
			Path: show(unquote(find(element, "path"))),
			Old:  show(unquote(find(element, "oldText"))), New: show(unquote(find(element, "newText"))),
			Patch: show(unquote(find(find(element, "patch"), "text"))),
		}
		if change.Patch != "" {
			change.Path = show(strings.Join(changedPaths(nil, element), ", "))
		}
		return change, ""
	case "content":
		if text := unquote(find(find(element, "content"), "text")); text != "" {
			return Change{}, show(text)
		}
	case "terminal":
		return Change{}, "" // its output comes later
	}
	if jsontext.Value(element).Kind() == '{' {
		element = withoutMeta(element)
	}
	return Change{}, show(string(element))
}
