package audit

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/kandev/assent/pipeline"
)

// wire is a line as it stands in the file. Members that a later version added
// are ignored.
type wire struct {
	Time       string  `json:"time"`
	Event      string  `json:"event"`
	Run        string  `json:"run"`
	Instance   string  `json:"instance"`
	Agent      string  `json:"agent"`
	Task       string  `json:"task"`
	Session    string  `json:"session"`
	Request    string  `json:"request_id"`
	Verdict    *string `json:"verdict"`
	Stage      string  `json:"stage"`
	Reason     string  `json:"reason"`
	OptionKind string  `json:"option_kind"`
	Server     *string `json:"server"`
	Tool       *string `json:"tool"`
	Kind       string  `json:"kind"`
	By         string  `json:"by"`
	Surface    string  `json:"surface"`
	WaitedMS   uint64  `json:"waited_ms"`
	Net        string  `json:"net"`
	Dropped    uint64  `json:"dropped"`
	Since      string  `json:"since"`
}

// What can be wrong with a line. None of these holds anything of the line.
var (
	errNoRecord  = errors.New("no record: not well-formed JSON, or a member of another type")
	errNoTime    = errors.New("no record: its time is missing or not in RFC 3339")
	errNoEvent   = errors.New("no record: its event is missing")
	errNoVerdict = errors.New("no record: its verdict is not one of select, pend, cancel")
	errNoTool    = errors.New("no record: its server and tool are no name of a tool")
	errNoWait    = errors.New("no record: its waiting time is out of range")
)

// maxWaited keeps a number of milliseconds within a [time.Duration].
const maxWaited = uint64(1<<63-1) / uint64(time.Millisecond)

// Parse reads one line, with or without its line feed.
func Parse(text []byte) (Record, error) {
	var w wire
	if err := json.Unmarshal(text, &w); err != nil {
		return Record{}, errNoRecord
	}
	r := Record{
		Event: Event(w.Event), Run: w.Run, Instance: w.Instance, Agent: pipeline.Agent(w.Agent), Task: w.Task, Session: w.Session,
		Request: w.Request, Stage: pipeline.Name(w.Stage), Reason: pipeline.Reason(w.Reason), OptionKind: w.OptionKind,
		Kind: Kind(w.Kind), By: w.By, Surface: w.Surface, Net: Net(w.Net), Dropped: w.Dropped, Waited: time.Duration(w.WaitedMS) * time.Millisecond,
	}
	var err, errSince error
	if r.Time, err = parseTime(w.Time); w.Since != "" {
		r.Since, errSince = parseTime(w.Since)
	}
	switch {
	case err != nil, errSince != nil:
		return Record{}, errNoTime
	case w.Event == "":
		return Record{}, errNoEvent
	case w.WaitedMS > maxWaited:
		return Record{}, errNoWait
	}
	if r.Verdict, err = parseVerdict(w.Verdict); err != nil {
		return Record{}, err
	}
	r.Tool, err = parseTool(w.Server, w.Tool)
	return r, err
}

func parseTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 { // in UTC it may be another year
		return time.Time{}, errNoTime
	}
	return t, err
}

func parseVerdict(name *string) (pipeline.Verdict, error) {
	if name == nil {
		return pipeline.Pend, nil
	}
	for _, v := range []pipeline.Verdict{pipeline.Select, pipeline.Pend, pipeline.Cancel} {
		if *name == v.String() {
			return v, nil
		}
	}
	return pipeline.Pend, errNoVerdict
}

// parseTool holds names from a file to the rule that they passed when they were
// written.
func parseTool(server, tool *string) (pipeline.Identity, error) {
	switch {
	case server == nil && tool == nil:
		return pipeline.Identity{}, nil
	case server == nil || tool == nil:
		return pipeline.Identity{}, errNoTool
	}
	id, _ := pipeline.NewIdentity(pipeline.ClaimTool(*server, *tool))
	if id.State() != pipeline.Named {
		return pipeline.Identity{}, errNoTool
	}
	return id, nil
}
