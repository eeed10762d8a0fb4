package pipeline

import "log/slog"

// MaxText is the longest name, title or kind in bytes that is kept to be
// compared. A qualified name has at most 263 bytes, so a longer text can match
// nothing.
const MaxText = 512

// TextState tells the ways apart in which a text member can be there.
type TextState uint8

const (
	// TextAbsent: the member is missing or null. The zero value.
	TextAbsent TextState = iota
	// TextGiven: a string, kept.
	TextGiven
	// TextWrongType: something that is no string. It matches nothing.
	TextWrongType
	// TextTooLong: a string of more than [MaxText] bytes. It matches nothing.
	TextTooLong
)

// Text is a member that should be a string. It is comparable.
type Text struct {
	state TextState
	value string
}

// NewText is a given text. Beyond [MaxText] bytes only that fact is kept.
func NewText(s string) Text {
	if len(s) > MaxText {
		return Text{state: TextTooLong}
	}
	return Text{state: TextGiven, value: s}
}

// WrongType is a member that is no string.
func WrongType() Text { return Text{state: TextWrongType} }

// TooLong is a string that is too long to be kept.
func TooLong() Text { return Text{state: TextTooLong} }

// State says how the text is there.
func (t Text) State() TextState { return t.state }

// Value is the text, and whether it was given as a string that is kept.
func (t Text) Value() (string, bool) { return t.value, t.state == TextGiven }

// Is says whether the text was given and is exactly s.
func (t Text) Is(s string) bool { return t.state == TextGiven && t.value == s }

// LogValue hides the text: titles can hold secrets.
func (t Text) LogValue() slog.Value { return slog.StringValue("(hidden)") }

// MetaKind is the JSON type of a [Meta] value.
type MetaKind uint8

const (
	MetaAbsent MetaKind = iota // not there; the zero value
	MetaNull
	MetaString
	MetaTrue
	MetaFalse
	MetaNumber // the number itself is not kept
	MetaArray  // the elements are not kept
	MetaObject
	MetaTooLarge // there, but beyond the bounds of the decoder; not kept
)

// Meta is an immutable JSON value, read by exact key: no case folding, and
// absent, null, wrong type and string stay apart. It is built by the decoder
// from text without duplicate keys.
type Meta struct {
	kind    MetaKind
	text    string
	members []Member
}

// Member is one member of an object.
type Member struct {
	Key   string
	Value Meta
}

// MetaOf is a value of a kind that has no content to keep.
func MetaOf(kind MetaKind) Meta { return Meta{kind: kind} }

// MetaText is a string.
func MetaText(s string) Meta { return Meta{kind: MetaString, text: s} }

// NewMetaObject is an object. The members must not be changed afterwards.
func NewMetaObject(members ...Member) Meta { return Meta{kind: MetaObject, members: members} }

// Kind is the JSON type, or [MetaAbsent].
func (m Meta) Kind() MetaKind { return m.kind }

// Get reads a member by its exact key; [MetaAbsent] when m is no object or has
// no such member.
func (m Meta) Get(key string) Meta {
	for i := range m.members {
		if m.members[i].Key == key {
			return m.members[i].Value
		}
	}
	return Meta{}
}

// Text is the string value, and whether it is one.
func (m Meta) Text() (string, bool) { return m.text, m.kind == MetaString }

// Given says whether the value is there and not null: in ACP a missing and a
// null member both leave what an earlier frame said.
func (m Meta) Given() bool { return m.kind != MetaAbsent && m.kind != MetaNull }

// LogValue hides the content: metadata is logged nowhere.
func (m Meta) LogValue() slog.Value { return slog.StringValue("(hidden)") }
