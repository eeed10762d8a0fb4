package console

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/pipeline"
)

// How texts of an agent stand on the screen: within ‹ and ›, which they cannot
// contain, or behind a | in the column after the label, which begins no row of
// ours. A word of ours is never quoted. A tool and its server are our words once
// their names have passed the parser.
const (
	labelled = "%-9s "
	textMark = "| "
	// rowPrefix begins the rows of a line after the first.
	rowPrefix = "          " + textMark
)

// Columns of a terminal.
const (
	// leastColumns are needed for a question that can be read.
	leastColumns = 30
	// unknownColumns are assumed of a terminal that does not tell: a row that is
	// too short is harmless.
	unknownColumns = 40
)

// columns is how many columns the terminal has; 0 when w is none, which has no
// edge.
func columns(w any) int {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return unknownColumns
}

// edge is where rows end in a terminal with so many columns. The last one stays
// empty: some terminals wrap when it is filled.
func edge(columns int) int {
	if columns == 0 {
		return 0
	}
	return max(columns, leastColumns) - 1
}

// writeLine writes a line to what may be a terminal, in rows that fit.
func writeLine(w io.Writer, line string) {
	_, _ = io.WriteString(w, strings.Join(display.Rows(line, edge(columns(w)), rowPrefix), "\n")+"\n")
}

// quote shows a text of an agent in one line, and how much of it is not shown.
func quote(text string, limit int) string {
	shown, left := display.Bounded(text, limit)
	shown = display.Quote(shown, len(shown)) // escaped already
	if left > 0 {
		shown += fmt.Sprintf(" (%d more bytes)", left)
	}
	return shown
}

// Words of ACP. An agent that says one of them says nothing of its own.
var (
	statuses   = []string{"pending", "in_progress", "completed", "failed"}
	optionKind = []string{pipeline.AllowOnce, pipeline.AllowAlways, pipeline.RejectOnce, pipeline.RejectAlways}
	stopWords  = []string{"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"}
)

// word shows a word that is one of ACP's, and quotes any other.
func word(text string, known []string) string {
	if slices.Contains(known, text) {
		return text
	}
	return quote(text, maxShownID)
}

// callKind shows what a tool call does, likewise.
func callKind(text string) string { return word(text, []string{string(audit.KnownKind(text))}) }
