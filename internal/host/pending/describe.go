package pending

import (
	"slices"
	"strings"
	"unicode"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/frame"
	"github.com/kandev/assent/pipeline"
)

// Bounds of what is kept of one offer, in bytes.
const (
	maxText    = 16 << 10 // everything together; a larger offer cannot be shown
	maxOptions = 256

	maxType    = 32
	maxCommand = 1024
	maxPath    = 512
	maxTitle   = 120
	maxLabel   = 160
	maxKind    = 64

	maxDescription = 240
)

// describe makes the record of an offer and a bounded copy of what is kept for
// [Store.Detail]. It fails when the offer is too large to be shown.
func describe(o *Offer, maxDetail int) (record, source, bool) {
	f := o.Frame
	if f == nil {
		f = &frame.Frame{}
	}
	r := record{
		allow: newChoice(pipeline.LeastAllow(o.Request.Options, o.Hint)),
		deny:  newChoice(pipeline.LeastReject(o.Request.Options, o.Hint)),
	}
	a := project(o, f)
	texts := [fields]string{
		fieldSession: o.Request.SessionID, fieldID: o.ID.String(),
		fieldReason: string(o.Result.Decision.Reason), fieldStage: string(o.Result.Stage),
		fieldType: a.Type, fieldTitle: a.Title, fieldDescription: a.Description,
		fieldCommand: a.Command, fieldPath: a.Path, fieldDestination: a.Destination,
		fieldServer: a.Server, fieldTool: a.Tool,
	}
	fits := r.write(&texts, o.Request.Options)
	return r, newSource(wholeTitle(o, f, maxDetail), f, maxDetail), fits
}

// write puts all text into one string.
func (r *record) write(texts *[fields]string, options []pipeline.Option) bool {
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	if len(options) > maxOptions || size > maxText {
		return false
	}
	var room [1024]byte
	buf := room[:0]
	for i, text := range texts {
		buf = append(buf, text...)
		r.ends[i] = uint16(len(buf))
	}
	for _, opt := range options {
		kind := opt.Kind
		if pipeline.KnownKind(kind) != kind {
			kind = Redact(kind, maxKind)
		}
		if len(buf)+len(opt.ID) > maxText {
			return false
		}
		buf = appendOption(buf, Option{ID: opt.ID, Kind: kind, Label: Redact(opt.Label, maxLabel)})
	}
	r.text, r.options = string(buf), uint16(len(options))
	return len(buf) <= maxText
}

// project says what the agent wants to do, as far as everybody may know. Only
// these few facts are taken, each by its own name; all else stays where it is.
func project(o *Offer, f *frame.Frame) Action {
	kind, ok := o.Request.Call.Kind.Value()
	if !ok {
		kind = f.Kind
	}
	a := Action{Type: kind}
	if string(audit.KnownKind(kind)) != kind {
		a.Type = Redact(kind, maxType)
	}
	if id := o.Result.Facts.Identity; id.State() == pipeline.Named {
		a.Server, a.Tool = id.Server(), id.Tool()
		return a // its arguments are its own
	}
	title := wholeTitle(o, f, frame.MaxText)
	// Of unknown arguments nobody can say that the title is their command.
	isCommand := kind == "execute" && (f.Rest == "" || !isProse(title, nameMarks, maxTitle))
	a.Command = Redact(orTitle(f.Commands, "; ", isCommand, title), maxCommand)
	a.Destination = Redact(orTitle(f.Destinations, ", ", kind == "fetch", title), maxPath)
	a.Path = Redact(strings.Join(paths(f), ", "), maxPath)
	if a.Command+a.Destination == "" && (a.Path == "" || saysNothing(kind)) {
		a.Title = words(firstOf(title, f.Prompt), nameMarks, maxTitle)
		a.Description = words(f.Description, nameMarks+",:;?!'", maxDescription)
	}
	return a
}

// orTitle joins what was found. Some agents put a command or an address into the
// title alone.
func orTitle(found []string, joint string, is bool, title string) string {
	if len(found) == 0 && is {
		return title
	}
	return strings.Join(found, joint)
}

// paths are those of the arguments and those beside them, each once.
func paths(f *frame.Frame) []string {
	list := slices.Clone(f.InputPaths)
	for _, p := range f.Paths {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// saysNothing says whether a kind leaves open what would be done with a path.
func saysNothing(kind string) bool { return kind == "" || kind == "other" }

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// wholeTitle is the effective title of the call, or the one in the frame: that
// can be too long to identify anything.
func wholeTitle(o *Offer, f *frame.Frame, limit int) string {
	if title, ok := o.Request.Call.Title.Value(); ok {
		return title
	}
	title, _ := frame.Text(f.RawTitle, limit)
	return title
}

// words is the redacted form of a text of an agent that is a name or a few words.
// Some agents write the arguments into the title, and those are for nobody but the
// person who asks for the detail: of such a text the name in front of them is
// left, if there is one.
func words(text, marks string, limit int) string {
	if isProse(text, marks, limit) {
		return Redact(text, limit)
	}
	name, _, found := strings.Cut(text, ": ")
	if !found || strings.Contains(name, " ") || !isProse(name, marks, limit) {
		return ""
	}
	return Redact(name, limit) + ": " + display.Ellipsis
}

// nameMarks may stand in a name beside letters and digits.
const nameMarks = " _-./()"

func isProse(text, marks string, limit int) bool {
	return len(text) <= limit && strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(marks, r)
	}) < 0
}
