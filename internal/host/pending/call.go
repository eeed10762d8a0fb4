package pending

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// call are the parts of a raw line that a person may see. They are JSON and point
// into the line. Of a line that cannot be read they are empty.
type call struct {
	title, rawInput, content, locations []byte
	// other is an ACP v2 subject that is no tool call, and kind its type.
	other, kind []byte
}

// readCall finds the parts of a permission request's line.
func readCall(line []byte) (c call) {
	params := find(line, "params")
	toolCall := find(params, "toolCall")
	if subject := find(params, "subject"); subject != nil {
		if c.kind = find(subject, "type"); unquote(c.kind) != "tool_call" {
			c.other, c.title = subject, find(params, "title")
			return c
		}
		toolCall = find(subject, "toolCall")
	}
	for m := range members(toolCall) {
		switch {
		case m.is("title"):
			c.title = m.value
		case m.is("rawInput"):
			c.rawInput = m.value
		case m.is("content"):
			c.content = m.value
		case m.is("locations"):
			c.locations = m.value
		}
	}
	return c
}

// member is one member of a JSON object. The key has its quotes.
type member struct{ key, value []byte }

func (m member) is(key string) bool {
	if inner := m.key[1 : len(m.key)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner) == key
	}
	return unquote(m.key) == key
}

// anyText reads what the strict decoder has judged already, and the model's own
// text, in which duplicate keys and bad text are its own business.
var anyText = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

func lenient(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(text), anyText...)
}

// members are the members of a JSON object, as far as it can be read; none when
// the text is no object.
func members(text []byte) iter.Seq[member] {
	return func(yield func(member) bool) {
		if len(text) == 0 || jsontext.Value(text).Kind() != '{' {
			return
		}
		dec := lenient(text)
		_, err := dec.ReadToken()
		for err == nil && dec.PeekKind() == '"' {
			var m member
			if m.key, err = next(dec, text); err == nil {
				m.value, err = next(dec, text)
			}
			if err == nil && !yield(m) {
				return
			}
		}
	}
}

// elements are the elements of a JSON array, as far as it can be read.
func elements(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if len(text) == 0 || jsontext.Value(text).Kind() != '[' {
			return
		}
		dec := lenient(text)
		_, err := dec.ReadToken()
		for err == nil && dec.PeekKind() != ']' {
			var value []byte
			if value, err = next(dec, text); err == nil && !yield(value) {
				return
			}
		}
	}
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

// find is the value of a member; nil when there is none. Of two the last one
// counts, as most readers take it.
func find(object []byte, key string) (value []byte) {
	for m := range members(object) {
		if m.is(key) {
			value = m.value
		}
	}
	return value
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

// text reads the first of the given arguments that is a string, or a list of
// strings such as a command with its own arguments.
func (c *call) text(keys ...string) string {
	for _, key := range keys {
		value := find(c.rawInput, key)
		if text := unquote(value); text != "" {
			return text
		}
		if words := collect(value, shellWord); len(words) > 0 {
			return strings.Join(words, " ")
		}
	}
	return ""
}

// commands reads a list of commands, each of which is one text.
func (c *call) commands(key string) string {
	return strings.Join(collect(find(c.rawInput, key), func(s string) string { return s }), "; ")
}

// maxCollected bounds how many texts are taken from one list. Nobody reads more,
// and the rest is left to the detail.
const maxCollected = 256

// collect reads a list of strings.
func collect(array []byte, form func(string) string) []string {
	var list []string
	for e := range elements(array) {
		if list = append(list, form(unquote(e))); len(list) == maxCollected {
			break
		}
	}
	return list
}

// shellWord quotes a word that a shell would take apart.
func shellWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n\"'`$&|;<>()*?\\") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// paths are the paths that the agent names beside the arguments, each once.
func (c *call) paths() []string {
	list := pathsIn(nil, c.locations)
	for e := range elements(c.content) {
		if list = changedPaths(list, e); len(list) >= maxCollected {
			break
		}
	}
	return list
}

// changedPaths adds the paths of one diff, of either protocol version.
func changedPaths(list []string, diff []byte) []string {
	return pathsIn(addPath(list, diff), find(diff, "changes"))
}

func pathsIn(list []string, array []byte) []string {
	for e := range elements(array) {
		if list = addPath(list, e); len(list) >= maxCollected {
			break
		}
	}
	return list
}

func addPath(list []string, object []byte) []string {
	if path := unquote(find(object, "path")); path != "" && !slices.Contains(list, path) {
		return append(list, path)
	}
	return list
}
