package pending

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/frame"
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
	// Notes are texts that the agent says or shows beside them.
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
	title, said, arguments, content string
	left                            int // bytes that were not kept
}

// sourceHeader is the size of what stands in front of a packed source: the sizes
// of title, said and arguments, and what is left, in four bytes each.
const sourceHeader = 16

// pack makes one string of a source; an empty one for an empty source. Offers are
// many, and every string costs more than its text.
func (s *source) pack() string {
	size := len(s.title) + len(s.said) + len(s.arguments) + len(s.content)
	if size+s.left == 0 {
		return ""
	}
	b := make([]byte, 0, sourceHeader+size)
	for _, n := range []int{len(s.title), len(s.said), len(s.arguments), s.left} {
		b = binary.BigEndian.AppendUint32(b, uint32(min(n, math.MaxUint32)))
	}
	for _, text := range []string{s.title, s.said, s.arguments, s.content} {
		b = append(b, text...)
	}
	return string(b)
}

func unpack(packed string) (s source) {
	if packed == "" {
		return source{}
	}
	text := packed[sourceHeader:]
	number := func(i int) int { return int(binary.BigEndian.Uint32([]byte(packed[4*i : 4*i+4]))) }
	take := func(n int) (part string) {
		part, text = text[:n], text[n:]
		return part
	}
	return source{title: take(number(0)), said: take(number(1)), arguments: take(number(2)), content: text, left: number(3)}
}

// smallDetail is what is kept of an offer when all of them together have too much.
const smallDetail = 4 << 10

// newSource copies what a person may see, up to a size. First comes the title,
// then the arguments, as the diff is mostly made of them.
func newSource(title string, f *frame.Frame, limit int) source {
	arguments, said := f.Arguments, f.Description
	if f.Subject != nil {
		arguments = frame.WithoutMeta(f.Subject)
	}
	prompt, _ := frame.Text(f.RawPrompt, limit)
	switch {
	case title == "":
		title = prompt
	case prompt != "" && prompt != title:
		said = strings.TrimSpace(prompt + "\n" + said)
	}
	s := source{title: title, said: said}
	s.arguments, s.content = s.copy(arguments, limit), s.copy(f.Content, limit)
	return s.cut(limit)
}

// copy copies so many bytes, and a character more: it may be cut in two there.
func (s *source) copy(text []byte, limit int) string {
	n := min(len(text), limit+utf8.UTFMax)
	s.left += len(text) - n
	return string(text[:n])
}

// cut keeps so many bytes.
func (s source) cut(limit int) source {
	for _, text := range []*string{&s.title, &s.said, &s.arguments, &s.content} {
		n := min(len(*text), limit)
		for n < len(*text) && n > 0 && !utf8.RuneStart((*text)[n]) {
			n--
		}
		limit -= n
		s.left += len(*text) - n
		*text = (*text)[:n]
	}
	return s
}

// hold counts a source as kept, until release, and packs it. When all of them
// together have too much, little is kept of it.
func (s *Store) hold(src source) string {
	packed := src.pack()
	if s.details.Add(int64(len(packed))) <= int64(s.config.MaxDetails) {
		return packed
	}
	s.release(packed)
	small := src.cut(smallDetail)
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
	if s.said != "" {
		d.Notes = append(d.Notes, show(s.said))
	}
	content := []byte(s.content)
	if s.content != "" && !frame.IsList(content) {
		d.Notes = append(d.Notes, show(s.content)) // cut, or nothing that we know
		return d
	}
	for c := range frame.Contents(content, maxRendered) {
		if c.Note != "" {
			d.Notes = append(d.Notes, show(c.Note))
			continue
		}
		d.Changes = append(d.Changes, Change{
			Path: show(strings.Join(c.Paths, ", ")), Old: show(c.Old), New: show(c.New), Patch: show(c.Patch),
		})
	}
	return d
}
