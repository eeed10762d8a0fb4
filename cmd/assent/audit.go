package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kandev/assent/internal/console"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/serve"
	"github.com/kandev/assent/pipeline"
)

// auditCommand reads audit files.
type auditCommand struct {
	Files []string `arg:"" name:"file" help:"Audit files, or data folders of assent serve. The files that were rotated out of one are read before it."`
	JSON  bool     `help:"The lines as they stand in the file."`

	Since    auditTime         `help:"Only records from this time on: a time, or how long ago, such as 2026-11-07T10:00:00Z, 2026-11-07, 90m or 7d." placeholder:"WHEN"`
	Until    auditTime         `help:"Only records before this time." placeholder:"WHEN"`
	Event    []audit.Event     `help:"Only these events: decision, answer, net, unasked, stop, interrupt, question, gap, other." placeholder:"EVENT" enum:"decision,answer,net,unasked,stop,interrupt,question,gap,other"`
	Verdict  []string          `help:"Only these verdicts: select, pend, cancel." placeholder:"VERDICT" enum:"select,pend,cancel"`
	Stage    []pipeline.Name   `help:"Only what these stages said." placeholder:"STAGE"`
	Reason   []pipeline.Reason `help:"Only these reasons." placeholder:"REASON"`
	Server   []string          `help:"Only tools of these servers." placeholder:"SERVER"`
	Tool     []string          `help:"Only these tools." placeholder:"TOOL"`
	Agent    []pipeline.Agent  `help:"Only these agents." placeholder:"ID"`
	RunID    []string          `name:"run" help:"Only these runs of the host: instances are numbered anew in each." placeholder:"RUN"`
	Instance []string          `help:"Only these agent instances." placeholder:"INSTANCE"`
	Request  []string          `help:"Only the decisions and answers with these request ids." placeholder:"ID"`
	Task     []string          `help:"Only these tasks of assent serve." placeholder:"TASK"`
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
		Servers: c.Server, Tools: c.Tool, Agents: c.Agent, Runs: c.RunID, Instances: c.Instance, Requests: c.Request, Tasks: c.Task, Sessions: c.Session,
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
	files := slices.Clone(c.Files)
	for i, file := range files {
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			files[i] = serve.AuditFile(file)
		}
	}
	return console.Audit(a.Streams, files, c.filter(), c.JSON)
}
