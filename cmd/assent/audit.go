package main

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

// auditCommand reads audit files.
type auditCommand struct {
	Files []string `arg:"" name:"file" help:"Audit files. The files that were rotated out of one are read before it."`
	JSON  bool     `help:"The lines as they stand in the file."`

	Since    auditTime         `help:"Only records from this time on: a time, or how long ago, such as 2026-11-07T10:00:00Z, 2026-11-07, 90m or 7d." placeholder:"WHEN"`
	Until    auditTime         `help:"Only records before this time." placeholder:"WHEN"`
	Event    []audit.Event     `help:"Only these events: decision, answer, net, unasked, gap." placeholder:"EVENT" enum:"decision,answer,net,unasked,gap"`
	Verdict  []string          `help:"Only these verdicts: select, pend, cancel." placeholder:"VERDICT" enum:"select,pend,cancel"`
	Stage    []pipeline.Name   `help:"Only what these stages said." placeholder:"STAGE"`
	Reason   []pipeline.Reason `help:"Only these reasons." placeholder:"REASON"`
	Server   []string          `help:"Only tools of these servers." placeholder:"SERVER"`
	Tool     []string          `help:"Only these tools." placeholder:"TOOL"`
	Agent    []pipeline.Agent  `help:"Only these agents." placeholder:"ID"`
	RunID    []string          `name:"run" help:"Only these runs of the host: instances are numbered anew in each." placeholder:"RUN"`
	Instance []string          `help:"Only these agent instances." placeholder:"INSTANCE"`
	Request  []string          `help:"Only the decisions and answers with these request ids." placeholder:"ID"`
	Session  []string          `help:"Only this session. The flag can be given again." placeholder:"SESSION" sep:"none"`
}

// Help is shown by --help.
func (*auditCommand) Help() string {
	return "A flag for several values takes them with commas between.\n\n" +
		"Example: assent audit --since 24h --verdict select audit.jsonl"
}

// auditTime is a time, or how long ago.
type auditTime struct{ time.Time }

// timeForms are the forms of a time. Without a zone it is the local one.
var timeForms = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly}

// UnmarshalText reads a time or a duration.
func (t *auditTime) UnmarshalText(text []byte) error {
	s := string(text)
	if ago, err := parseAgo(s); err == nil {
		t.Time = time.Now().Add(-ago)
		return nil
	}
	for _, form := range timeForms {
		if at, err := time.ParseInLocation(form, s, time.Local); err == nil {
			t.Time = at
			return nil
		}
	}
	return fmt.Errorf("%q is no time and no duration: write it like 2026-11-07T10:00:00Z, 2026-11-07, 90m or 7d", s)
}

// parseAgo reads a duration that is not below zero; days are 24 hours.
func parseAgo(s string) (ago time.Duration, err error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err
	}
	if ago, err = time.ParseDuration(s); err == nil && ago < 0 {
		err = errors.New("below zero")
	}
	return ago, err
}

func (c *auditCommand) filter() audit.Filter {
	f := audit.Filter{
		Since: c.Since.Time, Until: c.Until.Time, Events: c.Event, Stages: c.Stage, Reasons: c.Reason,
		Servers: c.Server, Tools: c.Tool, Agents: c.Agent, Runs: c.RunID, Instances: c.Instance, Requests: c.Request, Sessions: c.Session,
	}
	for _, name := range c.Verdict {
		for _, v := range []pipeline.Verdict{pipeline.Select, pipeline.Pend, pipeline.Cancel} {
			if v.String() == name {
				f.Verdicts = append(f.Verdicts, v)
			}
		}
	}
	return f
}

// Run is the command.
func (c *auditCommand) Run(a *app) error {
	out := bufio.NewWriter(a.stdout)
	r := auditReader{filter: c.filter(), json: c.JSON, out: out}
	var err error
	for _, name := range c.Files {
		if err = audit.Read(name, r.line); err != nil {
			break
		}
	}
	if flushed := out.Flush(); flushed != nil {
		return flushed
	}
	if path, bad := errors.AsType[*os.PathError](err); bad {
		return usage(fmt.Sprintf("%s: %v", path.Path, path.Err), "")
	}
	if err != nil {
		return err
	}
	return r.end(a.stderr)
}

// auditReader prints the records that pass, and remembers the lines that are none.
type auditReader struct {
	filter audit.Filter
	json   bool
	out    io.Writer
	header bool

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
	case !r.filter.Match(&l.Record):
		return nil
	case r.json:
		_, err := fmt.Fprintf(r.out, "%s\n", audit.ASCII(l.Text))
		return err
	}
	if !r.header {
		r.header = true
		if _, err := io.WriteString(r.out, auditRow("time", "event", "verdict", "why", "tool", "option", "by", "waited", "instance", "session")); err != nil {
			return err
		}
	}
	_, err := io.WriteString(r.out, auditText(&l.Record))
	return err
}

// end reports what was no record: cut lines in a note, damaged ones as an error.
func (r *auditReader) end(stderr io.Writer) error {
	if r.cut > 0 {
		if _, err := fmt.Fprintf(stderr, "assent: audit: %s, its writer was stopped there or the disk was full; it is left out%s\n", r.firstCut, andMore(r.cut-1)); err != nil {
			return err
		}
	}
	if r.damaged > 0 {
		return usage(r.firstBad+andMore(r.damaged-1), "all other lines were read")
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
	tool := ""
	if r.Tool.State() == pipeline.Named {
		tool = r.Tool.Server() + "/" + r.Tool.Tool()
	}
	by := r.By
	if r.Surface != "" {
		by = strings.TrimSpace(by + " via " + r.Surface)
	}
	return auditRow(r.Time.Format("2006-01-02 15:04:05.000Z"), string(r.Event), verdict, auditWhy(r), tool, r.OptionKind, by, waited, r.Instance, r.Session)
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
	widths := []int{24, 8, 7, 32, 28, 12, 18, 8, 8, 0}
	var b strings.Builder
	for i, text := range columns {
		fmt.Fprintf(&b, "%-*s  ", widths[i], display.Line(text, 300))
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}
