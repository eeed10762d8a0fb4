package serve

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/dispatch"
)

// agentView is an agent that somebody may start a task with.
type agentView struct {
	Name string `json:"name"`
	// Directory is where it works, unless the task says otherwise. Who is limited to tasks
	// is not told: it is the same for all.
	Directory string `json:"directory,omitempty"`
	Default   bool   `json:"default,omitempty"`
	Demo      bool   `json:"demo,omitempty"` // it is the bundled one, which has no model
}

// agentViews are those of the configuration that somebody may tell something, by name.
func (s *Server) agentViews(o dispatch.Origin) []agentView {
	views := []agentView{}
	if p, ok := o.Person(); !ok || !p.Scopes.Has(dispatch.ScopeOperate) {
		return views
	}
	usual, _, _ := s.config.agent("")
	for _, name := range slices.Sorted(maps.Keys(s.config.Agents)) {
		if agent := s.config.Agents[name]; s.mayTell(o, agent) == nil {
			dir := cmp.Or(agent.Directory, s.home)
			if limited(o) {
				dir = ""
			}
			views = append(views, agentView{name, display.Line(dir, 2*maxShownLine), name == usual, agent.bundled})
		}
	}
	return views
}

// limited says whether somebody sees some tasks alone, and so starts none at the top.
func limited(o dispatch.Origin) bool {
	p, ok := o.Person()
	return ok && p.Tasks != nil
}

// errLimited says what a token that is limited to tasks may start.
var errLimited = &dispatch.Error{Code: dispatch.CodeForbidden, Message: "this token is limited to tasks: name one of them, or one below them, as the parent"}
