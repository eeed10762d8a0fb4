package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/pipeline"
)

// questionLines show a question: what it is, why it was not automatic, what
// would be done, and each option.
func questionLines(q process.Question) []string {
	a := q.Action
	lines := []string{fmt.Sprintf("#%d  %s  not automatic: %s (stage %s)", q.Number, what(q.Result, a), q.Result.Decision.Reason, q.Result.Stage)}
	add := func(name, text string) {
		if text == "" {
			return
		}
		shown, left := display.Bounded(text, maxShown)
		if left > 0 {
			shown += fmt.Sprintf(" (%d more bytes)", left)
		}
		lines = append(lines, fmt.Sprintf("  %-12s %s", name, shown))
	}
	add("title", a.Title)
	add("type", a.Type)
	add("server", a.Server)
	add("tool", a.Tool)
	add("command", a.Command)
	for _, p := range a.Paths {
		add("path", p)
	}
	if a.MorePaths > 0 {
		add("path", fmt.Sprintf("and %d more", a.MorePaths))
	}
	add("destination", a.Destination)
	if a.Command == "" && a.Diff == "" {
		add("arguments", a.Arguments)
	}
	if a.Cut {
		add("note", "this is not all of it: the agent's text is too long to be shown")
	}
	for n, o := range q.Options {
		kind := display.Line(o.Kind, maxShownID)
		if kind == "" {
			kind = "unknown kind"
		}
		lines = append(lines, fmt.Sprintf("  %3d  %-14s %s", n+1, kind, display.Line(o.Label, maxShownTitle)))
	}
	return lines
}

// detailLines show all that is known of the action.
func detailLines(q process.Question) []string {
	lines := []string{fmt.Sprintf("#%d  session %s, call %s", q.Number, display.Line(q.Session, maxShownID), display.Line(q.ToolCall, maxShownID))}
	for _, part := range []struct{ name, text string }{
		{"command", q.Action.Command}, {"arguments", q.Action.Arguments}, {"diff", q.Action.Diff},
	} {
		if part.text == "" {
			continue
		}
		lines = append(lines, "  "+part.name)
		for l := range strings.SplitSeq(strings.TrimSuffix(display.Text(part.text, maxShownText), "\n"), "\n") {
			lines = append(lines, "  | "+l)
		}
	}
	return lines
}

// policy answers questions without a person, as --on-pending says.
type policy struct {
	answer string // allow, reject or cancel
	screen *screen
	// once says once that nobody is asked.
	once sync.Once
	tell func()
}

// Ask answers at once.
func (p *policy) Ask(_ context.Context, q process.Question) process.Answer {
	p.once.Do(p.tell)
	p.screen.block("question", questionLines(q))
	return p.screen.given(q, p.choose(q))
}

func (p *policy) choose(q process.Question) process.Answer {
	index, reason := 0, pipeline.ReasonOptionChosen
	switch p.answer {
	case "allow":
		index, reason = pipeline.LeastAllow(q.Options, q.Hint)
	case "reject":
		index, reason = pipeline.LeastReject(q.Options, q.Hint)
	default:
		return process.Cancel()
	}
	if reason != pipeline.ReasonOptionChosen {
		p.screen.line("", "#%d  --on-pending %s finds no single option (%s): cancelled", q.Number, p.answer, reason)
		return process.Cancel()
	}
	return process.Select(index)
}
