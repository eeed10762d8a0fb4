package pending

import (
	"strings"
	"unicode"

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
)

// describe makes the record of an offer and a bounded copy of what is kept for
// [Store.Detail]. It fails when the offer is too large to be shown.
func describe(o *Offer, maxDetail int) (record, source, bool) {
	c := readCall(o.Line)
	title, ok := o.Request.Call.Title.Value()
	if !ok { // too long to identify anything, or not a tool's
		title = unquote(c.title)
	}
	r := record{
		allow: newChoice(pipeline.LeastAllow(o.Request.Options, o.Hint)),
		deny:  newChoice(pipeline.LeastReject(o.Request.Options, o.Hint)),
	}
	a := project(o, &c, title)
	texts := [fields]string{
		fieldSession: o.Request.SessionID, fieldID: o.ID.String(),
		fieldReason: string(o.Result.Decision.Reason), fieldStage: string(o.Result.Stage),
		fieldType: a.Type, fieldTitle: a.Title, fieldCommand: a.Command, fieldPath: a.Path, fieldDestination: a.Destination,
		fieldServer: a.Server, fieldTool: a.Tool,
	}
	fits := r.write(&texts, o.Request.Options)
	return r, newSource(title, &c, maxDetail), fits
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
		if knownKind(kind) == "" {
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
func project(o *Offer, c *call, title string) Action {
	kind, _ := o.Request.Call.Kind.Value()
	if c.other != nil {
		kind = unquote(c.kind)
	}
	a := Action{Type: kind}
	if !isACPKind(kind) {
		a.Type = Redact(kind, maxType)
	}
	if id := o.Result.Facts.Identity; id.State() == pipeline.Named {
		a.Server, a.Tool = id.Server(), id.Tool()
		return a // its arguments are its own
	}
	a.Path = Redact(strings.Join(c.paths(), ", "), maxPath)
	switch kind {
	case "execute":
		a.Command = Redact(firstOf(c.text("command", "cmd"), c.commands("commands"), title), maxCommand)
	case "fetch":
		a.Destination = Redact(firstOf(c.text("url", "uri"), title), maxPath)
	case "move":
		a.Destination = Redact(c.text("destination", "new_path", "newPath"), maxPath)
		fallthrough
	case "read", "edit", "delete", "search":
		if a.Path == "" {
			a.Path = Redact(c.text("file_path", "filePath", "filepath", "path", "fileName", "notebook_path"), maxPath)
		}
	}
	if a.Command+a.Path+a.Destination == "" && readsLikeName(title) {
		a.Title = Redact(title, maxTitle)
	}
	return a
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// isACPKind says whether a tool call's kind is one that ACP knows.
func isACPKind(kind string) bool {
	switch kind {
	case "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other":
		return true
	}
	return false
}

// knownKind is an option's kind if ACP knows it, else empty.
func knownKind(kind string) string {
	switch kind {
	case pipeline.AllowOnce, pipeline.AllowAlways, pipeline.RejectOnce, pipeline.RejectAlways:
		return kind
	}
	return ""
}

// readsLikeName says whether a title is a name or a few words. Some agents write
// the arguments into the title, and those are for nobody but the person who asks
// for the detail.
func readsLikeName(title string) bool {
	return len(title) <= maxTitle && strings.IndexFunc(title, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" _-./()", r)
	}) < 0
}
