package telemetry

import (
	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/pipeline"
)

// Values of a label for what is in no closed set.
const (
	other = "other"
	none  = "none" // no stage has decided
)

// labels are the closed sets. Whatever goes into a metric or a span is looked up
// here.
type labels struct {
	agents  set
	stages  set
	reasons set
}

// set holds the values that a label can have.
type set map[string]struct{}

func newSet[T ~string](lists ...[]T) set {
	s := set{}
	for _, list := range lists {
		for _, value := range list {
			s[string(value)] = struct{}{}
		}
	}
	return s
}

// of is the value itself if it is known.
func (s set) of(value string) string {
	if _, known := s[value]; known && value != "" {
		return value
	}
	return other
}

func newLabels(o Options) labels {
	var agents []pipeline.Agent
	for _, d := range dialects.All() {
		agents = append(agents, d.Agent())
	}
	return labels{
		agents:  newSet(agents, o.Agents),
		stages:  newSet(knownStages, o.Stages),
		reasons: newSet(knownReasons, o.Reasons),
	}
}

func (l labels) agent(a pipeline.Agent) string { return l.agents.of(string(a)) }

func (l labels) reason(r pipeline.Reason) string { return l.reasons.of(string(r)) }

func (l labels) stage(n pipeline.Name) string {
	if n == "" {
		return none
	}
	return l.stages.of(string(n))
}

func verdict(v pipeline.Verdict) string {
	if v > pipeline.Continue {
		return other
	}
	return v.String()
}

func netName(n audit.Net) string {
	switch n {
	case audit.Witness, audit.Tripwire, audit.StartupAlarm, audit.NeverAutomatic:
		return string(n)
	}
	return other
}
