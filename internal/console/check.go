package console

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/internal/replay"
)

// Check runs the cases of case files and prints those whose decision is not what
// the case wants, or each expectation as a JSON object. A case that fails is a
// failure.
func Check(s Streams, runner replay.Runner, files []string, json bool) error {
	out := bufio.NewWriter(Output{s.Stdout})
	passed, failed := 0, 0
	err := eachFile(files, func(name string, in io.Reader) error {
		return runner.Cases(context.Background(), name, in, func(outcomes []replay.Outcome) error {
			good, err := printOutcomes(out, outcomes, json)
			if good {
				passed++
			} else {
				failed++
			}
			return err
		})
	})
	if err != nil {
		return cmp.Or(out.Flush(), err)
	}
	if passed+failed == 0 {
		return Usage("there is no case in the given files", "")
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", passed, failed)
	if err := out.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return Failed(fmt.Errorf("%d of %d cases failed", failed, passed+failed), "")
	}
	return nil
}

// printOutcomes writes the outcomes of one case and says whether all are as expected.
func printOutcomes(out io.Writer, outcomes []replay.Outcome, json bool) (bool, error) {
	good := true
	for _, o := range outcomes {
		good = good && o.Problem == ""
		var err error
		switch {
		case json:
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
