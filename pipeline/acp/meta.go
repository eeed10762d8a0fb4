package acp

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline"
)

// Bounds of a metadata tree. Real agents stay far below them: the deepest place
// that a dialect reads is _meta.claudeCode.mcpServer.name. What lies beyond is
// kept as MetaTooLarge, which is malformed to a dialect that reads it.
const (
	maxMetaDepth   = 16
	maxMetaMembers = 1024 // of one object
	maxMetaCost    = 128 << 10
	nodeCost       = 80 // bytes of a value without its text, about
)

// meta reads a value into an immutable tree.
func (r *reading) meta(depth int) pipeline.Meta {
	r.cost += nodeCost
	kind := r.kind()
	switch kind {
	case '"':
		if text, ok := r.member().Value(); ok {
			r.cost += len(text)
			return pipeline.MetaText(text)
		}
		return pipeline.MetaOf(pipeline.MetaTooLarge)
	case '{':
		if depth < maxMetaDepth {
			return r.metaObject(depth)
		}
	}
	r.skip()
	return pipeline.MetaOf(kindOf(kind))
}

func (r *reading) metaObject(depth int) pipeline.Meta {
	base := len(r.members)
	good := true
	_ = r.object(func(key []byte) error { // it is one
		if good = good && len(r.members)-base < maxMetaMembers && len(key) <= pipeline.MaxText && r.cost < maxMetaCost; !good {
			return nil
		}
		name := keep(key)
		r.cost += len(name)
		m := pipeline.Member{Key: name, Value: r.meta(depth + 1)}
		r.members = append(r.members, m)
		r.highest = max(r.highest, len(r.members))
		return nil
	})
	members := r.members[base:]
	r.members = r.members[:base]
	if !good {
		return pipeline.MetaOf(pipeline.MetaTooLarge)
	}
	return pipeline.NewMetaObject(append([]pipeline.Member(nil), members...)...) // empty is nil, whatever was pooled
}

// kindOf tells by its first byte what a value is that is not kept.
func kindOf(first byte) pipeline.MetaKind {
	switch first {
	case 'n':
		return pipeline.MetaNull
	case 't':
		return pipeline.MetaTrue
	case 'f':
		return pipeline.MetaFalse
	case '[':
		return pipeline.MetaArray
	case '{':
		return pipeline.MetaTooLarge
	}
	return pipeline.MetaNumber
}

// shallow is the direct members of a well-formed object: strings as they are,
// deeper values as their kind. A duplicate key, or too many members, make it
// [pipeline.MetaTooLarge]. A value that is no object is its kind.
func shallow(value []byte) pipeline.Meta {
	if len(value) == 0 || value[0] != '{' {
		return shallowValue(value)
	}
	var list []pipeline.Member
	for s := (scanner{b: value, pos: 1}); s.nextMember(); {
		key, err := jsontext.AppendUnquote(nil, s.key)
		taken := slices.ContainsFunc(list, func(m pipeline.Member) bool { return m.Key == string(key) })
		if err != nil || taken || len(list) >= maxMetaMembers || len(key) > pipeline.MaxText {
			return pipeline.MetaOf(pipeline.MetaTooLarge)
		}
		list = append(list, pipeline.Member{Key: string(key), Value: shallowValue(s.value)})
	}
	return pipeline.NewMetaObject(list...)
}

func shallowValue(value []byte) pipeline.Meta {
	if len(value) == 0 {
		return pipeline.Meta{}
	}
	if value[0] != '"' {
		return pipeline.MetaOf(kindOf(value[0]))
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil || len(text) > pipeline.MaxText { // a lone surrogate, too
		return pipeline.MetaOf(pipeline.MetaTooLarge)
	}
	return pipeline.MetaText(string(text))
}

// keep copies text out of a line. The words that real agents send all the time
// cost no allocation.
func keep(text []byte) string {
	switch string(text) {
	case pipeline.AllowOnce:
		return pipeline.AllowOnce
	case pipeline.AllowAlways:
		return pipeline.AllowAlways
	case pipeline.RejectOnce:
		return pipeline.RejectOnce
	case pipeline.DefaultReservedName:
		return pipeline.DefaultReservedName
	case "claudeCode":
		return "claudeCode"
	case "toolName":
		return "toolName"
	case "mcpServer":
		return "mcpServer"
	case "name":
		return "name"
	case "source":
		return "source"
	case "dynamic":
		return "dynamic"
	case "other":
		return "other"
	case "allow-once":
		return "allow-once"
	case "allow-with-updates":
		return "allow-with-updates"
	case "allow":
		return "allow"
	case "reject":
		return "reject"
	case "Yes":
		return "Yes"
	case "No":
		return "No"
	}
	return string(text)
}
