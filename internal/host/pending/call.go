package pending

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/samber/lo"

	"github.com/kandev/assent/pipeline"
)

// call are the parts of a raw line that a person may see. They point into the
// line. Of a line that cannot be read they are empty.
type call struct {
	title     []byte
	rawInput  []byte // JSON
	content   []byte // JSON
	locations []byte // JSON
	// other holds the members of an ACP v2 subject that is no tool call, and
	// kind its type.
	other []member
	kind  []byte
}

// member is one member of a JSON object.
type member struct {
	key           string
	quoted, value []byte
}

// find is the value of a member; nil when there is none. Of two the last one
// counts, as most readers take it.
func find(object []member, key string) (value []byte) {
	for _, m := range object {
		if m.key == key {
			value = m.value
		}
	}
	return value
}

// readCall finds the parts of a permission request's line.
func readCall(text []byte) (c call) {
	params := members(find(members(text), "params"))
	toolCall := find(params, "toolCall")
	if subject := members(find(params, "subject")); subject != nil {
		if c.kind = find(subject, "type"); unquote(c.kind) != "tool_call" {
			c.other = subject
			c.title = find(params, "title")
			return c
		}
		toolCall = find(subject, "toolCall")
	}
	fields := members(toolCall)
	c.title = find(fields, "title")
	c.rawInput = find(fields, "rawInput")
	c.content = find(fields, "content")
	c.locations = find(fields, "locations")
	return c
}

// lenient reads what the strict decoder has judged already, and the model's own
// text, in which duplicate keys and bad text are its own business.
func lenient(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// members are the members of a JSON object; none when the text is no object or
// is broken. Of a key that is there twice both are listed.
func members(text []byte) []member {
	if len(text) == 0 || jsontext.Value(text).Kind() != '{' {
		return nil
	}
	out := []member{}
	dec := lenient(text)
	_, err := dec.ReadToken()
	for err == nil && dec.PeekKind() == '"' {
		var key, value []byte
		if key, err = next(dec, text); err == nil {
			value, err = next(dec, text)
		}
		if err == nil {
			out = append(out, member{unquote(key), key, value})
		}
	}
	return out
}

// elements are the elements of a JSON array.
func elements(text []byte) [][]byte {
	if len(text) == 0 || jsontext.Value(text).Kind() != '[' {
		return nil
	}
	var out [][]byte
	dec := lenient(text)
	_, err := dec.ReadToken()
	for err == nil && dec.PeekKind() != ']' {
		var value []byte
		if value, err = next(dec, text); err == nil {
			out = append(out, value)
		}
	}
	return out
}

// next reads one value and returns its place in the text.
func next(dec *jsontext.Decoder, text []byte) ([]byte, error) {
	value, err := dec.ReadValue()
	if err != nil {
		return nil, err
	}
	end := dec.InputOffset()
	return text[end-int64(len(value)) : end], nil
}

// unquote is the text of a JSON string; empty for anything else.
func unquote(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	if inner := value[1 : len(value)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	text, _ := jsontext.AppendUnquote(nil, value) // what is no UTF-8 was replaced
	return string(text)
}

// text reads the first of the given members that is a string, or a list of
// strings such as a command with its arguments.
func (c *call) text(keys ...string) string {
	fields := members(c.rawInput)
	for _, key := range keys {
		if text := commandText(find(fields, key)); text != "" {
			return text
		}
	}
	return ""
}

func commandText(value []byte) string {
	if text := unquote(value); text != "" {
		return text
	}
	var words []string
	for _, e := range elements(value) {
		words = append(words, shellWord(unquote(e)))
	}
	return strings.Join(words, " ")
}

// shellWord quotes a word that a shell would take apart.
func shellWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n\"'`$&|;<>()*?\\") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// commands reads a list of commands, each of which is one text.
func (c *call) commands(key string) string {
	var list []string
	for _, e := range elements(find(members(c.rawInput), key)) {
		list = append(list, unquote(e))
	}
	return strings.Join(list, "; ")
}

// paths are the paths that the agent names beside the arguments.
func (c *call) paths() []string {
	list := pathsIn(nil, c.locations)
	for _, e := range elements(c.content) {
		list = append(list, changedPaths(members(e))...)
	}
	return lo.Uniq(list)
}

// changedPaths are the paths of one diff, of either protocol version.
func changedPaths(diff []member) []string {
	var list []string
	if path := unquote(find(diff, "path")); path != "" {
		list = append(list, path)
	}
	return pathsIn(list, find(diff, "changes"))
}

func pathsIn(list []string, array []byte) []string {
	for _, e := range elements(array) {
		if path := unquote(find(members(e), "path")); path != "" {
			list = append(list, path)
		}
	}
	return list
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
