package replay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/internal/record"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// Case is one line of a case file.
type Case struct {
	ID       string       `json:"id"`
	Why      string       `json:"why"`
	Instance caseInstance `json:"instance"`
	Lines    []caseLine   `json:"lines"`
	Want     []want       `json:"want"`
}

type caseInstance struct {
	Agent        string         `json:"agent"`
	Port         int            `json:"port"`
	AutoApprove  bool           `json:"auto_approve"`
	Injected     bool           `json:"injected"`
	Servers      jsontext.Value `json:"servers"`
	ServersExact jsontext.Value `json:"servers_exact"`
}

type caseLine struct {
	Dir    string  `json:"dir"`
	Raw    *string `json:"raw"`
	RawB64 []byte  `json:"raw_b64"`
}

// want is what a case expects for one request: the fields that it has.
type want map[string]jsontext.Value

// Outcome is what became of one expectation of a case.
type Outcome struct {
	Case Case
	// Decision that was made, nil when there was none.
	Decision *Decision
	// Problem says what is not as expected, empty when all is.
	Problem string
}

const caseForm = `expected {"id":"…","instance":{…},"lines":[…],"want":[…]}`

// Cases runs the cases of one file and calls visit with the outcomes of each.
// The error is an [*InputError] when the file cannot be read.
func (r Runner) Cases(ctx context.Context, file string, in io.Reader, visit func([]Outcome) error) error {
	return eachLine(file, in, func(number int, line []byte) error {
		var c Case
		if err := readEntry(line, &c); err != nil {
			return badLine(file, number, err, caseForm)
		}
		if c.ID == "" || len(c.Lines) == 0 || len(c.Want) == 0 {
			return &InputError{file, number, "a case needs id, lines and want: " + caseForm}
		}
		decisions, err := r.runCase(ctx, c)
		if err != nil {
			return &InputError{file, number, err.Error()}
		}
		return visit(compare(c, decisions))
	})
}

func (r Runner) runCase(ctx context.Context, c Case) ([]Decision, error) {
	list, err := c.Instance.list()
	if err != nil {
		return nil, err
	}
	connection, err := r.connect(pipeline.Instance{
		Agent:       pipeline.Agent(c.Instance.Agent),
		Port:        c.Instance.Port,
		Injected:    c.Instance.Injected && c.Instance.Port > 0,
		AutoApprove: c.Instance.AutoApprove,
	}, acp.Options{EverySession: &list})
	if err != nil {
		return nil, err
	}
	var decisions []Decision
	for _, l := range c.Lines {
		text, err := l.text()
		if err != nil {
			return nil, err
		}
		if d, ok := connection.line(ctx, l.Dir, text); ok {
			decisions = append(decisions, d)
		}
	}
	return decisions, nil
}

func (l caseLine) text() ([]byte, error) {
	switch {
	case l.Dir != record.FromAgent && l.Dir != record.FromClient:
		return nil, errors.New("dir is neither agent->client nor client->agent: " + caseForm)
	case l.Raw != nil:
		return []byte(*l.Raw), nil
	case l.RawB64 != nil:
		return l.RawB64, nil
	}
	return nil, errors.New("a line of a case needs raw or raw_b64: " + caseForm)
}

// list is the server list at decision time: given as it stands, or the user's
// with the injection applied, which replaces entries of the reserved name.
func (i caseInstance) list() (pipeline.ServerList, error) {
	if i.ServersExact != nil {
		return acp.ReadServers(i.ServersExact)
	}
	list, err := acp.ReadServers(i.Servers)
	if err != nil || !i.Injected || i.Port <= 0 {
		return list, err
	}
	list.Servers = slices.DeleteFunc(list.Servers, func(s pipeline.Server) bool { return s.Name == pipeline.DefaultReservedName })
	list.Servers = append(list.Servers,
		pipeline.Server{Name: pipeline.DefaultReservedName, Type: "http", URL: pipeline.MCPURL(i.Port)},
		pipeline.Server{Name: pipeline.DefaultReservedName, Type: "sse", URL: pipeline.SSEURL(i.Port)})
	return list, nil
}

// compare holds decisions against expectations. Each decision counts once, in
// order; one that nothing expected is a problem, too.
func compare(c Case, decisions []Decision) []Outcome {
	var outcomes []Outcome
	rest := slices.Clone(decisions)
	for _, w := range c.Want {
		o := Outcome{Case: c}
		at := slices.IndexFunc(rest, func(d Decision) bool { return sameJSON(d.ID, w["id"]) })
		if at >= 0 {
			o.Decision = new(rest[at])
			rest = slices.Delete(rest, at, at+1)
		}
		o.Problem = w.check(o.Decision)
		outcomes = append(outcomes, o)
	}
	for _, d := range rest {
		outcomes = append(outcomes, Outcome{Case: c, Decision: &d, Problem: "nothing was expected for the request with id " + strconv.Quote(string(d.ID))})
	}
	return outcomes
}

// check compares the fields that the expectation has.
func (w want) check(d *Decision) string {
	var verdicts []string
	if err := json.Unmarshal(w["verdict"], &verdicts); err != nil {
		var one string
		if json.Unmarshal(w["verdict"], &one) != nil {
			return "the case wants no verdict that can be read"
		}
		verdicts = []string{one}
	}
	got := "none"
	if d != nil {
		got = d.Verdict
	}
	if !slices.Contains(verdicts, got) {
		return "verdict " + got + ", wanted " + string(w["verdict"])
	}
	if d == nil {
		return ""
	}
	return w.checkFields(d)
}

func (w want) checkFields(d *Decision) string {
	text, err := json.Marshal(d)
	if err != nil {
		return "the decision cannot be written: " + err.Error()
	}
	var have map[string]jsontext.Value
	if err := json.Unmarshal(text, &have); err != nil {
		return "the decision cannot be read again: " + err.Error()
	}
	for field, value := range w {
		switch {
		case field == "id", field == "verdict":
		case field == "option" && d.Verdict != pipeline.Select.String():
			// The option belongs to the acceptable verdict select.
		case !sameJSON(have[field], value):
			return field + " " + strconv.Quote(string(have[field])) + ", wanted " + strconv.Quote(string(value))
		}
	}
	return ""
}

// sameJSON compares two values; numbers keep their digits, strings their text.
func sameJSON(a, b jsontext.Value) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	if a[0] == '"' && b[0] == '"' {
		x, errX := jsontext.AppendUnquote(nil, []byte(a))
		y, errY := jsontext.AppendUnquote(nil, []byte(b))
		return errX == nil && errY == nil && bytes.Equal(x, y)
	}
	return bytes.Equal(bytes.TrimSpace(a), bytes.TrimSpace(b))
}
