package console

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/pipeline"
)

// Audit prints the records of audit files that pass the filter: as a table, or as
// the lines that stand in the files.
func Audit(s Streams, files []string, filter audit.Filter, json bool) error {
	out := bufio.NewWriter(Output{s.Stdout})
	r := auditReader{filter: filter, json: json, out: out}
	var err error
	for _, name := range files {
		if err = audit.Read(name, r.line); err != nil {
			break
		}
	}
	if flushed := out.Flush(); flushed != nil {
		return flushed
	}
	if path, bad := errors.AsType[*os.PathError](err); bad {
		return Usage(fmt.Sprintf("%s: %v", path.Path, path.Err), "")
	}
	if err != nil {
		return err
	}
	return r.end(s.Stderr)
}

// auditReader prints the records that pass, and remembers the lines that are none.
type auditReader struct {
	filter      audit.Filter
	json        bool
	out         io.Writer
	header      bool
	read, shown int // records

	cut, damaged       int
	firstCut, firstBad string
}

func (r *auditReader) line(l audit.Line) error {
	switch {
	case errors.Is(l.Err, audit.ErrCut):
		if r.cut++; r.cut == 1 {
			r.firstCut = fmt.Sprintf("%s:%d: %v", l.File, l.Number, l.Err)
		}
		return nil
	case l.Err != nil:
		if r.damaged++; r.damaged == 1 {
			r.firstBad = fmt.Sprintf("%s:%d: %v", l.File, l.Number, l.Err)
		}
		return nil
	}
	r.read++
	if !r.filter.Match(&l.Record) {
		return nil
	}
	r.shown++
	if r.json {
		_, err := fmt.Fprintf(r.out, "%s\n", audit.ASCII(l.Text))
		return err
	}
	if !r.header {
		r.header = true
		if _, err := io.WriteString(r.out, auditRow("time", "event", "verdict", "why", "call", "option", "by", "waited", "instance", "request", "task", "session")); err != nil {
			return err
		}
	}
	_, err := io.WriteString(r.out, auditText(&l.Record))
	return err
}

// end reports that nothing was shown, and what was no record: cut lines in a note,
// damaged ones as an error.
func (r *auditReader) end(stderr io.Writer) error {
	if r.shown == 0 && r.damaged == 0 {
		text := "no record of " + strconv.Itoa(r.read) + " matches"
		if r.read == 0 {
			text = "there is no record"
		}
		if _, err := fmt.Fprintf(stderr, "assent: audit: %s\n", text); err != nil {
			return err
		}
	}
	if r.cut > 0 {
		if _, err := fmt.Fprintf(stderr, "assent: audit: %s, its writer was stopped there or the disk was full; it is left out%s\n", r.firstCut, andMore(r.cut-1)); err != nil {
			return err
		}
	}
	if r.damaged > 0 {
		return Usage(r.firstBad+andMore(r.damaged-1), "all other lines were read")
	}
	return nil
}

func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and so for %d more", n)
}

// auditText is a record as a row of the table.
func auditText(r *audit.Record) string {
	verdict, waited := "", ""
	if r.Event == audit.Decision || r.Event == audit.Answer {
		verdict = r.Verdict.String()
	}
	if r.Event == audit.Answer {
		waited = r.Waited.Round(100 * time.Millisecond).String()
	}
	by := r.By
	if r.Surface != "" {
		by = strings.TrimSpace(by + " via " + r.Surface)
	}
	return auditRow(r.Time.Format("2006-01-02 15:04:05.000Z"), string(r.Event), verdict, auditWhy(r), auditCall(r), r.OptionKind, by, waited, r.Instance, r.Request, r.Task, r.Session)
}

// auditCall is the tool where it is known exactly, else what the agent says that the
// call does, in brackets.
func auditCall(r *audit.Record) string {
	switch {
	case r.Tool.State() == pipeline.Named:
		return r.Tool.Server() + "/" + r.Tool.Tool()
	case r.Kind != "":
		return "(" + string(r.Kind) + ")"
	}
	return ""
}

// auditWhy is stage and reason, the net, or what is missing.
func auditWhy(r *audit.Record) string {
	why := []string{}
	for _, text := range []string{string(r.Net), string(r.Stage), string(r.Reason)} {
		if text != "" {
			why = append(why, text)
		}
	}
	text := strings.Join(why, "/")
	if r.Dropped > 0 {
		text = fmt.Sprintf("%d records missing/%s", r.Dropped, text)
	}
	return text
}

// auditRow is one row. Columns do not shrink a text to fit: what is longer moves
// the rest of its row.
func auditRow(columns ...string) string {
	widths := []int{24, 9, 7, 32, 28, 12, 18, 8, 8, 16, 21, 0}
	var b strings.Builder
	for i, text := range columns {
		fmt.Fprintf(&b, "%-*s  ", widths[i], display.Line(text, 300))
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}
