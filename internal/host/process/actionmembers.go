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

// subjectMember reads what ACP v2 asks about: a tool call, a command, or whatever
// else there will be.
func (r *reader) subjectMember(key string) {
	s := &r.seen
	switch key {
	case "toolCall":
		r.call()
	case "type":
		if kind := r.text(maxActionText); kind != "tool_call" {
			s.kind = kind
		}
	case "command":
		r.command(key, &s.subject)
	case "cwd":
		r.inputPath(key, &s.subject)
	case "_meta":
		r.skip()
	default:
		r.keep(&s.subject, key, r.value())
	}
}

// keep keeps a member that has no place of its own, and says something.
func (r *reader) keep(where *rest, key string, v jsontext.Value) {
	if len(v) > 0 && v.Kind() != 'n' {
		r.wasCut = !where.add(key, v) || r.wasCut
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
	s.command, s.destination, s.inputPaths, s.rest = inner.seen.command, inner.seen.destination, inner.seen.inputPaths, inner.seen.rest
	r.wasCut = r.wasCut || inner.wasCut || len(v) > maxArguments
	s.arguments = r.cut(string(v[:min(len(v), maxArguments+1)]), maxArguments)
	s.unread = v.Kind() != '{'
}

func (r *reader) inputMember(key string) {
	s := &r.seen
	switch key {
	case "command", "commands", "cmd", "script":
		r.command(key, &s.rest)
	case "path", "paths", "file", "file_path", "filePath", "filepath", "fileName", "filename", "abs_path",
		"notebook_path", "cwd", "workdir", "directory":
		r.inputPath(key, &s.rest)
	case "url", "uri", "host", "hostname", "domain":
		if !r.bad && r.dec.PeekKind() == '"' {
			s.destination = join(s.destination, r.text(maxActionText))
			return
		}
		r.keep(&s.rest, key, r.value())
	default:
		r.keep(&s.rest, key, r.value())
	}
}

// command is a string, or a list of arguments as it stands. Several are all
// shown: a person has to see each. Of another type it is left to the rest.
func (r *reader) command(key string, left *rest) {
	kind := r.dec.PeekKind()
	switch {
	case r.bad:
	case kind == '"':
		r.seen.command = join(r.seen.command, r.text(maxActionText))
	case kind == '[' || kind == '{':
		r.seen.command = join(r.seen.command, r.raw(maxActionText))
	default:
		r.keep(left, key, r.value())
	}
}

// inputPath is a string, or a list of strings; anything else is left to the rest.
func (r *reader) inputPath(key string, left *rest) {
	s := &r.seen
	switch kind := r.dec.PeekKind(); {
	case r.bad:
	case kind == '"':
		s.inputPaths = r.path(s.inputPaths)
	case kind == '[':
		v, mixed := r.value(), false
		inner := reader{dec: jsontext.NewDecoder(bytes.NewBuffer(v), lenient)}
		inner.array(func() {
			mixed = mixed || inner.dec.PeekKind() != '"'
			s.inputPaths = inner.path(s.inputPaths)
		})
		if mixed {
			r.keep(left, key, v)
		}
		r.wasCut = r.wasCut || inner.wasCut
	default:
		r.keep(left, key, r.value())
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
	case "changes":
		r.array(func() { r.object(r.location) })
	case "patch":
		r.object(func(key string) {
			if key != "text" {
				r.skip()
				return
			}
			r.change("")
		})
	case "content":
		r.shown()
	case "oldText":
		r.change("- ")
	case "newText":
		r.change("+ ")
	default:
		r.skip()
	}
}

// shown is a text that an agent shows with a call; anything else is kept as it is.
func (r *reader) shown() {
	v := r.value()
	if len(v) == 0 {
		return
	}
	text := ""
	inner := reader{dec: jsontext.NewDecoder(bytes.NewBuffer(v), lenient)}
	inner.object(func(key string) {
		if key == "text" {
			text = inner.text(maxArguments)
			return
		}
		inner.skip()
	})
	if text == "" {
		inner.wasCut = len(v) > maxArguments
		text = string(v[:min(len(v), maxArguments)])
	}
	r.wasCut = r.wasCut || inner.wasCut
	r.seen.content = r.cut(join(r.seen.content, text), maxArguments)
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
