package process

import (
	"slices"
	"strings"
	"sync"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/frame"
	"github.com/kandev/assent/pipeline"
)

// maxArguments bounds arguments, diff and content as they are shown, in bytes.
const maxArguments = frame.MaxRest

// reading gives what a line says. It is read for the time of a call, once, and
// only when somebody wants to see it.
type reading func() *frame.Frame

func onDemand(line []byte) reading {
	return sync.OnceValue(func() *frame.Frame {
		f := frame.Read(line)
		return &f
	})
}

// offerAction is what the frame of an offer says about the action. Kind and title
// are those of the effective call, which earlier updates may have given.
func offerAction(f *frame.Frame, req *pipeline.Request, id pipeline.Identity) Action {
	a := newAction(f, id.State() == pipeline.Named)
	if kind, ok := req.Call.Kind.Value(); ok {
		a.Type = a.text(kind, frame.MaxText)
	}
	if title, ok := req.Call.Title.Value(); ok {
		a.Title = a.text(title, frame.MaxText)
	}
	a.Prompt, a.Description, a.Subject = f.Prompt, f.Description, f.SubjectRest
	a.Server, a.Tool = id.Server(), id.Tool()
	return a
}

// newAction is what a call would do. The arguments of a known MCP tool are the
// model's own text and say nothing about a command, path or destination.
func newAction(f *frame.Frame, known bool) Action {
	a := Action{Type: f.Kind, Title: f.Title, Cut: f.Cut}
	a.Arguments = a.raw(f.Arguments)
	a.Rest = a.Arguments
	paths := f.Paths
	if !known {
		a.Command = a.text(strings.Join(f.Commands, "\n"), maxArguments)
		a.Destination = a.text(strings.Join(f.Destinations, "\n"), maxArguments)
		a.Rest = f.Rest
		paths = slices.Concat(f.InputPaths, f.Paths)
	}
	a.addPaths(paths)
	if frame.IsList(f.Content) {
		a.addContent(f.Content)
	}
	return a
}

func (a *Action) addPaths(paths []string) {
	for _, p := range paths {
		switch {
		case slices.Contains(a.Paths, p):
		case len(a.Paths) == MaxPaths:
			a.MorePaths++
		default:
			a.Paths = append(a.Paths, p)
		}
	}
}

// addContent takes what is shown with a call: diffs, signed line by line, and
// notes.
func (a *Action) addContent(content []byte) {
	var diff, notes []string
	size := 0
	for c := range frame.Contents(content, maxArguments) {
		if size > 2*maxArguments {
			a.Cut = true
			break
		}
		size += len(c.Old) + len(c.New) + len(c.Patch) + len(c.Note)
		a.Cut = a.Cut || c.Cut
		if c.Patch == "" {
			for _, p := range c.Paths {
				diff = append(diff, "file "+p)
			}
		}
		diff = append(diff, signed("- ", c.Old), signed("+ ", c.New), signed("", c.Patch))
		notes = append(notes, c.Note)
	}
	a.Diff, a.Content = a.text(joined(diff), maxArguments), a.text(joined(notes), maxArguments)
}

// joined joins the texts that are not empty.
func joined(texts []string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n")
}

// signed puts a sign in front of each line of one side of a diff.
func signed(sign, text string) string {
	text = strings.TrimSuffix(text, "\n")
	if text == "" {
		return ""
	}
	return sign + strings.ReplaceAll(text, "\n", "\n"+sign)
}

func (a *Action) text(s string, limit int) string {
	a.Cut = a.Cut || len(s) > limit
	return display.Cut(s, limit)
}

func (a *Action) raw(v []byte) string {
	a.Cut = a.Cut || len(v) > maxArguments
	return frame.Raw(v, maxArguments)
}
