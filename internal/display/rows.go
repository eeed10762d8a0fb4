package display

import "strings"

// Columns is how many columns of a terminal a character takes, or more: terminals
// do not agree about what is not ASCII, and a row that is too short is harmless.
func Columns(r rune) int {
	if r < 0x7f {
		return 1
	}
	return 2
}

// Rows cuts a line into rows of at most width columns, each but the first with a
// prefix. A terminal that wraps a line itself begins the next row at its edge,
// where whoever wrote the line can make it look like a line of its own. A width of
// 0 or less means that there is no edge.
func Rows(line string, width int, prefix string) []string {
	if width <= 0 {
		return []string{line}
	}
	var rows []string
	var row strings.Builder
	column, begun := 0, false // begun: there is something of the line in the row
	for _, r := range line {
		if begun && column+Columns(r) > width {
			rows = append(rows, row.String())
			row.Reset()
			row.WriteString(prefix)
			column, begun = len(prefix), false
		}
		row.WriteRune(r)
		column += Columns(r)
		begun = true
	}
	return append(rows, row.String())
}
