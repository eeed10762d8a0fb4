package proxy

import (
	"bytes"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline"
)

// Why a session request got no injected entry.
var (
	errNotStrict = errors.New("it can be read in more than one way")
	errNoParams  = errors.New("it has no params object")
	errNoList    = errors.New("its mcpServers is no list")
	// A request without an id, with one that is in use, or one that names no session
	// or several, or one of too many.
	errNotFollowed = errors.New("its answer could not be told apart")
)

// span is a part of a line.
type span struct{ from, to int }

// inject puts entries into the mcpServers of a session request, in place of what
// has one of their names, also for agents that replace special characters.
// Everything else in the line stays byte for byte as it is. It returns the names
// that gave way. The line keeps its end.
func inject(line []byte, entries []jsontext.Value, names []string) (out []byte, replaced []string, err error) {
	text := bytes.TrimRight(line, "\r\n")
	list, end, err := findServers(text)
	if err != nil {
		return nil, nil, err
	}
	kept, replaced, err := keepServers(text, list, names)
	if err != nil {
		return nil, nil, err
	}
	array := append([]byte{'['}, bytes.Join(append(kept, asBytes(entries)...), []byte{','})...)
	array = append(array, ']')
	if list == (span{}) { // behind the last member of params
		member := append([]byte(`"mcpServers":`), array...)
		if at := len(bytes.TrimRight(text[:end], " \t")); text[at-1] != '{' {
			member = append([]byte{','}, member...)
		}
		list, array = span{end, end}, member
	}
	return slices.Concat(text[:list.from], array, text[list.to:], line[len(text):]), replaced, nil
}

func asBytes(values []jsontext.Value) [][]byte {
	out := make([][]byte, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

// findServers finds the value of params.mcpServers, and where params ends. A line
// that is not strictly good JSON has no such place.
func findServers(text []byte) (list span, end int, err error) {
	if !jsontext.Value(text).IsValid() {
		return span{}, 0, errNotStrict
	}
	err = errNoParams
	eachMember(text, span{0, len(text)}, func(key string, v span) {
		if key != "params" || text[v.from] != '{' {
			return
		}
		err, end = nil, v.to-1
		eachMember(text, v, func(key string, v span) {
			if key == "mcpServers" {
				list = v
			}
		})
	})
	return list, end, err
}

// keepServers are the entries of the client's list that stay.
func keepServers(text []byte, list span, names []string) (kept [][]byte, replaced []string, err error) {
	if list == (span{}) || text[list.from] == 'n' {
		return nil, nil, nil
	}
	if text[list.from] != '[' {
		return nil, nil, errNoList
	}
	eachElement(text, list, func(v span) {
		name := ""
		if text[v.from] == '{' {
			eachMember(text, v, func(key string, v span) {
				if key == "name" && text[v.from] == '"' {
					unquoted, _ := jsontext.AppendUnquote(nil, text[v.from:v.to]) // was checked
					name = string(unquoted)
				}
			})
		}
		if slices.Contains(names, pipeline.FlatName(name)) {
			replaced = append(replaced, name)
			return
		}
		kept = append(kept, text[v.from:v.to])
	})
	return kept, replaced, nil
}

// eachMember calls visit for each member of the object at v, in a text that was
// checked.
func eachMember(text []byte, v span, visit func(key string, value span)) {
	key, isKey := "", true
	walk(text, v, func(word string, s span) {
		if isKey {
			key = word
		} else {
			visit(key, s)
		}
		isKey = !isKey
	})
}

// eachElement calls visit for each element of the array at v.
func eachElement(text []byte, v span, visit func(element span)) {
	walk(text, v, func(_ string, s span) { visit(s) })
}

// walk calls visit for each key and value, or element, one level below v, with the
// text of a string.
func walk(text []byte, v span, visit func(word string, s span)) {
	d := jsontext.NewDecoder(bytes.NewReader(text[v.from:v.to]))
	if _, err := d.ReadToken(); err != nil {
		return
	}
	for d.PeekKind() != '}' && d.PeekKind() != ']' && d.PeekKind() != 0 {
		value, err := d.ReadValue()
		if err != nil {
			return
		}
		end := v.from + int(d.InputOffset())
		word := ""
		if value.Kind() == '"' {
			unquoted, _ := jsontext.AppendUnquote(nil, value) // was checked
			word = string(unquoted)
		}
		visit(word, span{end - len(value), end})
	}
}
