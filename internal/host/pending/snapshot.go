package pending

import (
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/kandev/assent/pipeline"
)

// Snapshot is what everybody may see of an open offer. It never changes and
// shares its text with the store. Credentials are masked, and hidden characters
// are written visibly; only session and option ids have their exact bytes,
// because answers need them.
type Snapshot struct {
	Key
	// Sequence grows with each offer; lists are sorted by it.
	Sequence uint64 `json:"sequence"`
	// Opened is when the offer came.
	Opened time.Time `json:"opened"`
	Action Action    `json:"action"`
	// Reason why it was not decided automatically, and the stage that said so.
	Reason  pipeline.Reason `json:"reason"`
	Stage   pipeline.Name   `json:"stage"`
	Options Options         `json:"options"`
}

// Action is what the agent wants to do, as far as it is known. What is not in
// this list is never shown to everybody.
type Action struct {
	// Type is the kind of the tool call.
	Type string `json:"type,omitempty"`
	// Command that would run.
	Command string `json:"command,omitempty"`
	// Path of the files it is about.
	Path string `json:"path,omitempty"`
	// Destination is where data would go to or come from.
	Destination string `json:"destination,omitempty"`
	// Server and Tool, only when the pipeline knows them exactly.
	Server string `json:"server,omitempty"`
	Tool   string `json:"tool,omitempty"`
	// Title and Description in the agent's own words, which prove nothing. They are
	// there only when nothing above says what would be done, and only when they read
	// like words and not like data.
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
}

// LogValue is what a log may say about a snapshot.
func (s Snapshot) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("request_id", string(s.Request)),
		slog.String("instance", string(s.Instance)),
		slog.String("stage", string(s.Stage)),
		slog.String("reason", string(s.Reason)),
		slog.String("server", s.Action.Server),
		slog.String("tool", s.Action.Tool),
	)
}

// Format prints no text of the agent.
func (s Snapshot) Format(w fmt.State, _ rune) {
	_, _ = fmt.Fprintf(w, "request %s of instance %s (%s)", s.Request, s.Instance, s.Reason)
}

// Option is one offered answer.
type Option struct {
	// ID in the exact bytes offered.
	ID string `json:"id"`
	// Kind is one of ACP's four kinds, exactly, or a display form of another one.
	Kind string `json:"kind"`
	// Label for people.
	Label string `json:"label"`
}

// Options are the offered answers, in order. They cannot be changed.
type Options struct {
	text string
	n    int
}

// Len is how many options there are.
func (o Options) Len() int { return o.n }

// All gives the options with their indexes.
func (o Options) All() iter.Seq2[int, Option] {
	return func(yield func(int, Option) bool) {
		for i := range o.n {
			if !yield(i, o.take()) {
				return
			}
		}
	}
}

// At is the option with the given index; the zero value outside the offer.
func (o Options) At(index int) Option {
	if index < 0 || index >= o.n {
		return Option{}
	}
	for range index {
		o.text = o.text[2+size(o.text):]
	}
	return o.take()
}

// named finds the option with exactly this id. Equal ids are equal on the wire,
// so one that names options of several kinds could turn a rejection into an
// approval: such an id names nothing.
func (o Options) named(id string) (int, error) {
	found, kind := -1, ""
	for i := range o.n {
		if n := size(o.text[2:]); n != len(id) || o.text[4:4+n] != id {
			o.text = o.text[2+size(o.text):]
			continue
		}
		switch opt := o.take(); {
		case found < 0:
			found, kind = i, opt.Kind
		case opt.Kind != kind:
			return -1, Error{Code: CodeOptionRequired, Reason: ReasonAmbiguousOption}
		}
	}
	if found < 0 {
		return -1, ErrOptionNotOffered
	}
	return found, nil
}

// In the text of an [Options] each option is the size of what follows, the size
// of the id, the id, the size of the kind, the kind, and the label. Sizes have
// two bytes.

func appendOption(b []byte, opt Option) []byte {
	b = appendSize(b, 4+len(opt.ID)+len(opt.Kind)+len(opt.Label))
	b = append(appendSize(b, len(opt.ID)), opt.ID...)
	b = append(appendSize(b, len(opt.Kind)), opt.Kind...)
	return append(b, opt.Label...)
}

// take cuts the first option off.
func (o *Options) take() Option {
	text := o.text[2 : 2+size(o.text)]
	o.text = o.text[2+len(text):]
	id := 2 + size(text)
	kind := id + 2 + size(text[id:])
	return Option{ID: text[2:id], Kind: text[id+2 : kind], Label: text[kind:]}
}

func size(s string) int { return int(s[0])<<8 | int(s[1]) }

func appendSize(b []byte, n int) []byte { return append(b, byte(n>>8), byte(n)) }

// MarshalJSON writes an array of options.
func (o Options) MarshalJSON() ([]byte, error) {
	list := make([]Option, 0, o.n)
	for _, opt := range o.All() {
		list = append(list, opt)
	}
	return json.Marshal(list)
}

// LogValue hides ids and labels.
func (o Options) LogValue() slog.Value { return slog.IntValue(o.n) }

// Format hides ids and labels.
func (o Options) Format(w fmt.State, _ rune) { _, _ = fmt.Fprintf(w, "%d options", o.n) }

func (e *entry) snapshot(id RequestID) (s Snapshot) {
	e.writeSnapshot(&s, id)
	return s
}

// writeSnapshot fills an empty snapshot in place: a list has many.
func (e *entry) writeSnapshot(s *Snapshot, id RequestID) {
	s.Instance, s.Session, s.Request = e.instance.id, e.field(fieldSession), id
	s.Sequence, s.Opened = e.seq, e.at
	s.Reason, s.Stage = pipeline.Reason(e.field(fieldReason)), pipeline.Name(e.field(fieldStage))
	s.Options = e.optionList()
	for i := fieldType; i < fields; i++ {
		if e.ends[i] == e.ends[i-1] {
			continue // most fields of most offers
		}
		text := e.field(i)
		switch i {
		case fieldType:
			s.Action.Type = text
		case fieldTitle:
			s.Action.Title = text
		case fieldDescription:
			s.Action.Description = text
		case fieldCommand:
			s.Action.Command = text
		case fieldPath:
			s.Action.Path = text
		case fieldDestination:
			s.Action.Destination = text
		case fieldServer:
			s.Action.Server = text
		case fieldTool:
			s.Action.Tool = text
		}
	}
}
