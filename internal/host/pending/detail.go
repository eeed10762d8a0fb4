package pending

import (
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

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
	return e.detail.render(), nil
}

// source is what is kept of an open offer for [Store.Detail]. It never changes.
type source struct {
	title, arguments, content string
	left                      int // bytes that were not kept
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
func withoutMeta(object []member) []byte {
	b := []byte("{")
	for _, m := range object {
		if m.key == "_meta" {
			continue
		}
		if len(b) > 1 {
			b = append(b, ", "...)
		}
		b = append(append(append(b, m.quoted...), ": "...), m.value...)
	}
	return append(b, '}')
}

// hold keeps a source until release. When all of them together have too much,
// little is kept of it.
func (s *Store) hold(src source) *source {
	if src.size() == 0 {
		return nil
	}
	if s.details.Add(int64(src.size())) > int64(s.config.MaxDetails) {
		s.details.Add(-int64(src.size()))
		small := newSource(src.title, &call{rawInput: []byte(src.arguments), content: []byte(src.content)}, smallDetail)
		small.left += src.left
		src = small
		s.details.Add(int64(src.size()))
	}
	return &src
}

func (s *Store) release(src *source) {
	if src != nil {
		s.details.Add(-int64(src.size()))
	}
}

func (s *source) size() int { return len(s.title) + len(s.arguments) + len(s.content) }

// maxRendered bounds each text of a detail: escapes make texts longer.
const maxRendered = 1 << 20

// render makes the detail. What was cut is shown as raw text.
func (s *source) render() Detail {
	if s == nil {
		return Detail{}
	}
	show := func(text string) string { return display.Text(text, maxRendered) }
	d := Detail{Title: show(s.title), Arguments: show(s.arguments), Left: s.left}
	list := elements([]byte(s.content))
	if len(list) == 0 && s.content != "" && s.content != "[]" {
		d.Notes = append(d.Notes, show(s.content))
	}
	for _, e := range list {
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
	fields := members(element)
	text := unquote(find(members(find(fields, "content")), "text"))
	switch unquote(find(fields, "type")) {
	case "diff":
		change := Change{
			Path: show(unquote(find(fields, "path"))),
			Old:  show(unquote(find(fields, "oldText"))), New: show(unquote(find(fields, "newText"))),
			Patch: show(unquote(find(members(find(fields, "patch")), "text"))),
		}
		if change.Patch != "" {
			change.Path = show(strings.Join(changedPaths(fields), ", "))
		}
		return change, ""
	case "content":
		if text != "" {
			return Change{}, show(text)
		}
	case "terminal":
		return Change{}, "" // its output comes later
	}
	if fields == nil {
		return Change{}, show(string(element))
	}
	return Change{}, show(string(withoutMeta(fields)))
}
