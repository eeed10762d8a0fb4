package process

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// call reads a tool call, or an update of one.
func (r *reader) call() { r.object(r.callMember) }

func (r *reader) callMember(key string) {
	s := &r.seen
	switch key {
	case "toolCallId":
		s.id = r.text(maxActionText)
	case "name":
		s.name = r.text(maxActionText)
	case "kind":
		s.kind = r.text(maxActionText)
	case "title":
		s.title = r.text(maxActionText)
	case "status":
		s.status = r.text(maxActionText)
	case "rawInput":
		r.rawInput()
	case "locations":
		r.array(func() { r.object(r.location) })
	case "content":
		r.content()
	default:
		r.skip()
	}
}

// otherSubject reads what ACP v2 asks about besides tool calls.
func (r *reader) otherSubject(key string) {
	switch key {
	case "command":
		r.command()
	case "cwd":
		r.seen.inputPaths = r.path(r.seen.inputPaths)
	default:
		r.skip()
	}
}

// rawInput keeps the whole of it, bounded, and finds what agents name alike.
func (r *reader) rawInput() {
	v := r.value()
	if len(v) == 0 || v.Kind() == 'n' {
		return
	}
	inner := reader{dec: jsontext.NewDecoder(bytes.NewBuffer(v), lenient)}
	inner.object(inner.inputMember)
	s := &r.seen
	s.command, s.destination, s.inputPaths = inner.seen.command, inner.seen.destination, inner.seen.inputPaths
	r.wasCut = r.wasCut || inner.wasCut || len(v) > maxArguments
	s.arguments = r.cut(string(v[:min(len(v), maxArguments+1)]), maxArguments)
}

func (r *reader) inputMember(key string) {
	s := &r.seen
	switch key {
	case "command", "commands", "cmd", "script":
		r.command()
	case "path", "paths", "file", "file_path", "filePath", "filepath", "fileName", "filename", "abs_path",
		"notebook_path", "cwd", "workdir", "directory":
		s.inputPaths = r.path(s.inputPaths)
	case "url", "uri", "host", "hostname", "domain":
		s.destination = join(s.destination, r.text(maxActionText))
	default:
		r.skip()
	}
}

// command is a string, or a list of arguments as it stands. Several are all
// shown: a person has to see each.
func (r *reader) command() {
	kind := r.dec.PeekKind()
	switch {
	case r.bad:
	case kind == '"':
		r.seen.command = join(r.seen.command, r.text(maxActionText))
	case kind == '[' || kind == '{':
		r.seen.command = join(r.seen.command, r.raw(maxActionText))
	default:
		r.skip()
	}
}

// path is a string, or a list of strings.
func (r *reader) path(paths []string) []string {
	if !r.bad && r.dec.PeekKind() == '[' {
		r.array(func() { paths = appendPath(paths, r.text(maxActionText)) })
		return paths
	}
	return appendPath(paths, r.text(maxActionText))
}

// maxSeenPaths bounds the paths of one frame; an [Action] lists fewer.
const maxSeenPaths = 1024

func appendPath(paths []string, p string) []string {
	if p == "" || len(paths) >= maxSeenPaths {
		return paths
	}
	return append(paths, p)
}

func (r *reader) location(key string) {
	if key != "path" {
		r.skip()
		return
	}
	r.seen.paths = r.path(r.seen.paths)
}

// content is a list of diffs and texts in a tool call, or one text in a message.
func (r *reader) content() {
	if !r.bad && r.dec.PeekKind() == '[' {
		r.array(func() { r.object(r.contentMember) })
		return
	}
	r.object(func(key string) {
		if key == "text" {
			r.seen.text = r.text(maxMessage)
			return
		}
		r.skip()
	})
}

func (r *reader) contentMember(key string) {
	s := &r.seen
	switch key {
	case "path":
		before := len(s.paths)
		if s.paths = r.path(s.paths); len(s.paths) > before {
			s.diff = r.cut(join(s.diff, "file "+s.paths[before]), maxArguments)
		}
	case "oldText":
		r.change("- ")
	case "newText":
		r.change("+ ")
	default:
		r.skip()
	}
}

// change adds one side of a diff.
func (r *reader) change(sign string) {
	text := strings.TrimSuffix(r.text(maxArguments), "\n")
	if text == "" {
		return
	}
	r.seen.diff = r.cut(join(r.seen.diff, sign+strings.ReplaceAll(text, "\n", "\n"+sign)), maxArguments)
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}
