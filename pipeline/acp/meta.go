package acp

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline"
)

// Bounds of a metadata tree. The deepest place that a dialect reads is
// _meta.claudeCode.mcpServer.name; what lies beyond the bounds is kept as
// MetaTooLarge, which is malformed to a dialect that reads it.
const (
	maxMetaDepth   = 6
	maxMetaMembers = 64
	maxMetaNodes   = 256
)

// meta reads a value into an immutable tree.
func (c *cursor) meta(depth int) (pipeline.Meta, error) {
	c.nodes++
	switch c.dec.PeekKind() {
	case 'n':
		return pipeline.MetaOf(pipeline.MetaNull), c.skip()
	case 't':
		return pipeline.MetaOf(pipeline.MetaTrue), c.skip()
	case 'f':
		return pipeline.MetaOf(pipeline.MetaFalse), c.skip()
	case '0':
		return pipeline.MetaOf(pipeline.MetaNumber), c.skip()
	case '[':
		return pipeline.MetaOf(pipeline.MetaArray), c.skip()
	case '"':
		return c.metaText()
	}
	if depth >= maxMetaDepth || c.nodes > maxMetaNodes {
		return pipeline.MetaOf(pipeline.MetaTooLarge), c.skip()
	}
	base := len(c.members)
	tooLarge := false
	err := c.object(func(key []byte) error {
		if tooLarge = tooLarge || len(c.members)-base >= maxMetaMembers || len(key) > pipeline.MaxText || c.nodes > maxMetaNodes; tooLarge {
			return c.skip()
		}
		name := keep(key)
		value, err := c.meta(depth + 1)
		c.members = append(c.members, pipeline.Member{Key: name, Value: value})
		return err
	})
	members := c.members[base:]
	c.members = c.members[:base]
	if err != nil || tooLarge {
		return pipeline.MetaOf(pipeline.MetaTooLarge), err
	}
	return pipeline.NewMetaObject(slices.Clone(members)...), nil
}

func (c *cursor) metaText() (pipeline.Meta, error) {
	t, err := c.text()
	if text, ok := t.Value(); ok {
		return pipeline.MetaText(text), err
	}
	return pipeline.MetaOf(pipeline.MetaTooLarge), err
}

// shallowObject is the direct members of an object: strings as they are, deeper
// values as their kind. A duplicate key makes it unusable.
type shallowObject struct {
	meta pipeline.Meta
}

// UnmarshalJSONFrom reads the object under the lenient options that it is called with.
func (s *shallowObject) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	var members []pipeline.Member
	usable := true
	for dec.PeekKind() == '"' {
		tok, err := dec.ReadToken()
		if err != nil {
			return err
		}
		key := tok.String()
		value, err := shallow(dec)
		if err != nil {
			return err
		}
		taken := slices.ContainsFunc(members, func(m pipeline.Member) bool { return m.Key == key })
		if usable = usable && !taken && len(members) < maxMetaMembers && len(key) <= pipeline.MaxText; usable {
			members = append(members, pipeline.Member{Key: key, Value: value})
		}
	}
	s.meta = pipeline.MetaOf(pipeline.MetaTooLarge)
	if usable {
		s.meta = pipeline.NewMetaObject(members...)
	}
	_, err := dec.ReadToken()
	return err
}

func shallow(dec *jsontext.Decoder) (pipeline.Meta, error) {
	kind := dec.PeekKind()
	if kind != '"' {
		_, err := dec.ReadValue()
		return pipeline.MetaOf(kinds[kind]), err
	}
	quoted, err := dec.ReadValue()
	if err != nil {
		return pipeline.Meta{}, err
	}
	text, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil || len(text) > pipeline.MaxText { // a lone surrogate, too
		return pipeline.MetaOf(pipeline.MetaTooLarge), nil
	}
	return pipeline.MetaText(string(text)), nil
}

var kinds = map[jsontext.Kind]pipeline.MetaKind{
	'n': pipeline.MetaNull, 't': pipeline.MetaTrue, 'f': pipeline.MetaFalse, '0': pipeline.MetaNumber,
	'[': pipeline.MetaArray, '{': pipeline.MetaTooLarge,
}

// rawInput reads rawInput for an observer.
func (c *cursor) rawInput() (pipeline.Meta, error) {
	if c.dec.PeekKind() != '{' {
		return pipeline.Meta{}, c.skipLenient()
	}
	err := json.UnmarshalDecode(&c.dec, &c.shallow, lenient...)
	return c.shallow.meta, err
}

// keep copies text out of a line; the frequent words cost no allocation.
func keep(text []byte) string {
	for _, word := range words {
		if string(text) == word {
			return word
		}
	}
	return string(text)
}

var words = [...]string{
	pipeline.AllowOnce, pipeline.AllowAlways, pipeline.RejectOnce, pipeline.RejectAlways,
	"allow-once", "allow", "reject", "other", "execute", "read", "claudeCode", "toolName", "mcpServer", "name", "source", "dynamic",
	pipeline.DefaultReservedName, "toolName", "is_mcp_tool_approval", "is_mcp_tool_call", "server", "tool", "pending", "in_progress", "completed", "failed",
}
