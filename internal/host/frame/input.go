package frame

import "strings"

// place is where a member of the arguments belongs.
type place uint8

const (
	inRest place = iota
	aCommand
	someCommands // each text of the list is one
	theArguments // of the command
	aPath
	aDestination
)

// places are the names that agents use. Whoever adds one has seen it in a frame.
var places = map[string]place{
	"command": aCommand, "cmd": aCommand, "script": aCommand, "commands": someCommands,
	"args": theArguments, "argv": theArguments,

	"path": aPath, "paths": aPath, "file": aPath, "files": aPath, "file_path": aPath, "filePath": aPath, "filepath": aPath,
	"fileName": aPath, "filename": aPath, "abs_path": aPath, "absolute_path": aPath, "dir_path": aPath, "notebook_path": aPath,
	"cwd": aPath, "workdir": aPath, "directory": aPath, "directories": aPath,

	"url": aDestination, "urls": aDestination, "uri": aDestination, "host": aDestination, "hostname": aDestination, "domain": aDestination,
	"destination": aDestination, "new_path": aDestination, "newPath": aDestination,
}

// input is what an object of arguments says.
type input struct {
	commands, paths, destinations texts
	args                          []byte // a list of texts, to be joined to the command
	rest                          rest
}

// member reads one member. What has no place, or another type than its place
// takes, goes into the rest.
func (in *input) member(s *scanner, key string) {
	v := s.Value()
	if len(v) == 0 || v[0] == 'n' {
		return // null says nothing
	}
	where, whole := places[key], false
	switch where {
	case aCommand:
		whole = in.command(s, v)
	case someCommands:
		whole = in.commands.addAll(s, v)
	case theArguments:
		if whole = v[0] == '[' && in.args == nil; whole {
			in.args = v
		}
	case aPath:
		whole = in.paths.addAll(s, v)
	case aDestination:
		whole = in.destinations.addAll(s, v)
	}
	if !whole {
		in.rest.add(key, v, s.cut)
	}
}

// command reads a text, or a list of texts that is one command with its arguments.
func (in *input) command(s *scanner, v []byte) bool {
	switch v[0] {
	case '"':
		in.commands.add(s.unquote(v, MaxText), s.cut)
	case '[':
		words, ok := s.words(v, MaxText)
		if !ok {
			words = s.raw(v, MaxText)
		}
		in.commands.add(words, s.cut)
	case '{':
		in.commands.add(s.raw(v, MaxText), s.cut)
	default:
		return false
	}
	return true
}

// finish joins arguments that stand in a member of their own to their command: of
// `rm` nobody can judge anything.
func (in *input) finish(cut *bool) {
	if in.args == nil {
		return
	}
	s := scan(nil, cut)
	words, ok := s.words(in.args, MaxText)
	if !ok || len(in.commands.list) != 1 {
		in.rest.add("args", in.args, cut)
		return
	}
	in.commands.list[0] = strings.TrimSpace(in.commands.list[0] + " " + words)
}

// Bounds of a list of texts: how many, how many bytes, and how many are looked at.
const (
	maxTexts  = 256
	maxSize   = 64 << 10
	maxLooked = 1 << 10
)

// texts are different texts, in order.
type texts struct {
	list         []string
	size, looked int
}

func (t *texts) add(text string, cut *bool) {
	if text == "" {
		return
	}
	t.looked++
	switch full := t.looked > maxLooked || len(t.list) == maxTexts || t.size+len(text) > maxSize; {
	case full:
		*cut = true
	case !t.has(text):
		t.list, t.size = append(t.list, text), t.size+len(text)
	}
}

func (t *texts) has(text string) bool {
	for _, other := range t.list {
		if other == text {
			return true
		}
	}
	return false
}

// addAll adds a text, or the texts of a list, and says whether that was all of it.
func (t *texts) addAll(s *scanner, v []byte) (whole bool) {
	switch v[0] {
	case '"':
		t.add(s.unquote(v, MaxText), s.cut)
		return true
	case '[':
		whole = true
		in := scan(v, s.cut)
		in.array(func() {
			whole = whole && in.Kind() == '"'
			t.add(in.text(MaxText), s.cut)
		})
		return whole && !in.bad
	}
	return false
}
