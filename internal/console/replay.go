package console

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/replay"
)

// Form is how [Replay] prints decisions.
type Form struct {
	JSON    bool // one object per decision
	Explain bool // with what each stage said
}

// Replay sends recordings through the pipeline and prints each decision. What is
// set in over wins over the recordings' headers.
func Replay(s Streams, runner replay.Runner, over replay.Instance, files []string, form Form) error {
	s.TellUnknown("replay", runner.Dialects, over.Agent)
	out := bufio.NewWriter(Output{s.Stdout})
	err := eachFile(files, func(name string, in io.Reader) error {
		offer := 0 // its number, as proxy --explain, logs and audit count
		return runner.Recording(context.Background(), name, in, over, func(d replay.Decision) error {
			offer++
			return form.print(out, offer, d)
		})
	})
	return cmp.Or(out.Flush(), err)
}

// eachFile opens the files one after the other. What cannot be read is wrong usage.
func eachFile(names []string, visit func(name string, in io.Reader) error) error {
	for _, name := range names {
		err := func() error {
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			return visit(name, f)
		}()
		input, bad := errors.AsType[*replay.InputError](err)
		path, missing := errors.AsType[*os.PathError](err)
		switch {
		case bad:
			return Usage(visible(input.Error()), "")
		case missing:
			return Usage(fmt.Sprintf("%s: %v", visible(path.Path), path.Err), "")
		case err != nil:
			return err
		}
	}
	return nil
}

// print writes one decision.
func (f Form) print(out io.Writer, offer int, d replay.Decision) error {
	if f.JSON {
		return printJSON(out, offer, d, f.Explain)
	}
	if _, err := fmt.Fprintln(out, decisionText(offer, d)); err != nil || !f.Explain {
		return err
	}
	_, err := io.WriteString(out, indent(d.Result.Explain()))
	return err
}

// traceStep is one stage in the JSON form of --explain.
type traceStep struct {
	Stage   string `json:"stage"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
}

func printJSON(out io.Writer, offer int, d replay.Decision, explain bool) error {
	line := struct {
		replay.Decision `json:",inline"`
		Offer           int         `json:"offer"`
		Trace           []traceStep `json:"trace,omitempty"`
	}{Decision: d, Offer: offer}
	if explain {
		for _, s := range d.Result.Trace.Steps() {
			line.Trace = append(line.Trace, traceStep{string(s.Stage), s.Decision.Verdict.String(), string(s.Decision.Reason)})
		}
	}
	text, err := json.Marshal(line)
	if err == nil {
		_, err = fmt.Fprintf(out, "%s\n", text)
	}
	return err
}

// decisionText is a decision in one line for people. Quoting escapes whatever an
// agent may have put into an id.
func decisionText(offer int, d replay.Decision) string {
	var b strings.Builder
	fmt.Fprintf(&b, "offer %d: %-6s  %s/%s", offer, d.Verdict, d.Stage, d.Reason)
	if d.Tool != nil {
		fmt.Fprintf(&b, "  tool %s of %s", *d.Tool, *d.Server)
	}
	if d.Option != nil {
		fmt.Fprintf(&b, "  option %s (%s)", strconv.Quote(*d.Option), visible(*d.Kind))
	}
	if d.ToolCall != nil {
		fmt.Fprintf(&b, "  call %s", strconv.Quote(*d.ToolCall))
	}
	fmt.Fprintf(&b, "  id %s", visible(string(d.ID)))
	return b.String()
}

// visible escapes what would not be seen on a terminal, without quotes.
func visible(s string) string { return display.Line(s, maxShown) }

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n    ") + "\n"
}
