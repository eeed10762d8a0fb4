package audit

import (
	"slices"
	"time"

	"github.com/kandev/assent/pipeline"
)

// Filter chooses records. An empty member lets every record pass; of several
// values in one member any will do.
type Filter struct {
	// Since and Until are the first time that passes and the first that no longer
	// does.
	Since, Until time.Time
	Events       []Event
	Verdicts     []pipeline.Verdict
	Stages       []pipeline.Name
	Reasons      []pipeline.Reason
	Agents       []pipeline.Agent
	Instances    []string
	Tasks        []string
	Sessions     []string
	Requests     []string
	Runs         []string
	// Servers and Tools by their exact names.
	Servers, Tools []string
}

// Match says whether a record passes. One without a verdict passes no filter for
// verdicts.
func (f *Filter) Match(r *Record) bool {
	return (f.Since.IsZero() || !r.Time.Before(f.Since)) &&
		(f.Until.IsZero() || r.Time.Before(f.Until)) &&
		among(f.Events, r.Event) &&
		(len(f.Verdicts) == 0 || r.Event == Decision || r.Event == Answer) && among(f.Verdicts, r.Verdict) &&
		among(f.Stages, r.Stage) && among(f.Reasons, r.Reason) &&
		among(f.Agents, r.Agent) &&
		amongBounded(f.Instances, r.Instance, maxName) &&
		amongBounded(f.Tasks, r.Task, maxName) &&
		amongBounded(f.Sessions, r.Session, maxSession) &&
		amongBounded(f.Requests, r.Request, maxName) &&
		among(f.Runs, r.Run) &&
		among(f.Servers, r.Tool.Server()) && among(f.Tools, r.Tool.Tool())
}

func among[T comparable](wanted []T, value T) bool {
	return len(wanted) == 0 || slices.Contains(wanted, value)
}

// amongBounded compares with what the log writes for a longer text.
func amongBounded(wanted []string, value string, limit int) bool {
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(w string) bool { return bounded(w, limit) == value })
}
