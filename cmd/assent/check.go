package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/internal/replay"
)

// checkCommand runs case files.
type checkCommand struct {
	Files []string `arg:"" name:"file" help:"Case files, one JSON case per line."`
	JSON  bool     `help:"One JSON object per expectation."`
}

// Help is shown by --help.
func (*checkCommand) Help() string {
	return "Each case gives lines of an agent and the verdicts that are right for them.\n\nExample: assent check cases.jsonl"
}

// Run is the command.
func (c *checkCommand) Run(a *app) error {
	runner, err := newRunner()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(a.stdout)
	passed, failed := 0, 0
	err = eachFile(c.Files, func(name string, in io.Reader) error {
		return runner.Cases(context.Background(), name, in, func(outcomes []replay.Outcome) error {
			good, err := c.print(out, outcomes)
			if good {
				passed++
			} else {
				failed++
			}
			return err
		})
	})
	if err != nil {
		return errors.Join(out.Flush(), err)
	}
	if passed+failed == 0 {
		return usage("there is no case in the given files", "")
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", passed, failed)
	if err := out.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return &exitError{code: exitFailed, err: fmt.Errorf("%d of %d cases failed", failed, passed+failed)}
	}
	return nil
}

// print writes the outcomes of one case and says whether all are as expected.
func (c *checkCommand) print(out io.Writer, outcomes []replay.Outcome) (bool, error) {
	good := true
	for _, o := range outcomes {
		good = good && o.Problem == ""
		var err error
		switch {
		case c.JSON:
			err = printOutcome(out, o)
		case o.Problem != "":
			_, err = fmt.Fprintf(out, "FAIL %s: %s: %s\n", visible(o.Case.ID), visible(o.Case.Why), o.Problem)
			if err == nil && o.Decision != nil {
				_, err = io.WriteString(out, indent(o.Decision.Result.Explain()))
			}
		}
		if err != nil {
			return good, err
		}
	}
	return good, nil
}

func printOutcome(out io.Writer, o replay.Outcome) error {
	d := replay.Decision{ID: jsontext.Value("null"), Verdict: "none"}
	if o.Decision != nil {
		d = *o.Decision
	}
	text, err := json.Marshal(struct {
		Case string `json:"case"`
		OK   bool   `json:"ok"`
		Why  string `json:"problem,omitempty"`

		replay.Decision `json:",inline"`
	}{o.Case.ID, o.Problem == "", o.Problem, d})
	if err == nil {
		_, err = fmt.Fprintf(out, "%s\n", text)
	}
	return err
}
