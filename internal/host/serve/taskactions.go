package serve

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/mcptools"
	"github.com/kandev/assent/internal/host/task"
)

type watchPayload struct {
	Task task.ID `json:"task,omitempty" jsonschema:"watch this task and its descendants only"`
}

type taskPayload struct {
	Task task.ID `json:"task" jsonschema:"id of the task"`
}

type startPayload struct {
	Title     string  `json:"title" jsonschema:"what the task is about, in one line"`
	Prompt    string  `json:"prompt,omitempty" jsonschema:"what the agent is told; without it the task is only noted"`
	Agent     string  `json:"agent,omitempty" jsonschema:"name of an agent of the configuration"`
	Parent    task.ID `json:"parent,omitempty" jsonschema:"id of the task that it belongs to"`
	Directory string  `json:"directory,omitempty" jsonschema:"where the agent works, an absolute path"`
}

type promptPayload struct {
	Task task.ID `json:"task" jsonschema:"id of the task"`
	Text string  `json:"text" jsonschema:"what the agent is told"`
}

// stateView is everything that a person may see.
type stateView struct {
	Server    string         `json:"server"`
	Started   time.Time      `json:"started"` // what was decided or said before is not in it
	Tasks     []taskView     `json:"tasks"`
	Instances []instanceView `json:"instances"`
	Offers    []offerView    `json:"offers"`
	Questions []questionView `json:"questions"`
	Decisions []decisionView `json:"decisions"`
	Nets      []netView      `json:"nets"`
	Unasked   []unaskedView  `json:"unasked"`
	Closed    []closedView   `json:"closed"`
	Acted     []actedView    `json:"acted"`
	Texts     []textView     `json:"texts"`
	// Agents are those that the token may start a task with, and Limited says that
	// it may only below a task that it sees.
	Agents  []agentView `json:"agents"`
	Limited bool        `json:"limited"`
}

// taskActions are those about tasks and their agents.
func (s *Server) taskActions() []dispatch.Action {
	return []dispatch.Action{
		action("state.watch", "Returns what the token may see, and sends events about it from then on.", dispatch.ScopeView, s.watch),
		action("task.list", "Lists tasks, oldest first.", dispatch.ScopeView, func(_ context.Context, o dispatch.Origin, _ mcptools.Nothing) (any, error) {
			tasks, err := s.taskViews(actor(o), "")
			return map[string]any{"tasks": tasks}, err
		}),
		action("task.get", "Returns one task.", dispatch.ScopeView, func(_ context.Context, o dispatch.Origin, in taskPayload) (any, error) {
			return s.oneTask(o)(s.tasks.Get(actor(o), in.Task))
		}),
		action("task.start", "Makes a task and, with a prompt, begins it. Returns the task.", dispatch.ScopeOperate, s.startTask),
		action("task.prompt", "Tells the agent of a task something: at once, or when its turn is over. Returns the task.", dispatch.ScopeOperate,
			func(ctx context.Context, o dispatch.Origin, in promptPayload) (any, error) {
				return s.oneTask(o)(s.message(ctx, o, in.Task, in.Text))
			}),
		action("task.cancel", "Cancels the turn of a task: stopped, or not_running.", dispatch.ScopeOperate, s.interruptTask),
		action("task.stop", "Ends a task and those below it for good: stopped, or not_running.", dispatch.ScopeOperate, func(ctx context.Context, o dispatch.Origin, in taskPayload) (any, error) {
			return s.stopTask(ctx, o, in.Task)
		}),
		action("instance.list", "Lists the agents that run.", dispatch.ScopeView, func(_ context.Context, o dispatch.Origin, _ mcptools.Nothing) (any, error) {
			return map[string]any{"instances": s.runner.views(s.visible(actor(o), ""))}, nil
		}),
		action("audit.tail", "Returns the last records of the audit, oldest first. A token that is limited to tasks gets those of their agents in this run.",
			dispatch.ScopeView, s.auditTail),
	}
}

// visible says which tasks somebody may see who watches a task, or all (empty).
func (s *Server) visible(who task.Actor, watched task.ID) func(task.ID) bool {
	return func(id task.ID) bool { return s.tasks.MaySee(who, watched, id) }
}

// reached says which tasks somebody reaches. It is for actions whose scope, which is
// not that of seeing, the dispatcher has checked.
func (s *Server) reached(who task.Actor) func(task.ID) bool {
	return func(id task.ID) bool { return s.tasks.Reaches(who, "", id) }
}

// maySee is the gateway's question about an event.
func (s *Server) maySee(p dispatch.Person, watched, id string) bool {
	return s.tasks.MaySee(task.Person(p), task.ID(watched), task.ID(id))
}

// watch gives the state, and notes that somebody is there to answer offers.
func (s *Server) watch(ctx context.Context, o dispatch.Origin, in watchPayload) (any, error) {
	who := actor(o)
	if in.Task != "" {
		if _, err := s.tasks.Get(who, in.Task); err != nil {
			return nil, err
		}
	}
	if p, ok := o.Person(); ok {
		s.surfaces.watches(ctx, p, in.Task)
	}
	visible := s.visible(who, in.Task)
	tasks, err := s.taskViews(who, in.Task)
	if err != nil {
		return nil, err
	}
	questions, err := s.tasks.Questions(who)
	if err != nil {
		return nil, err
	}
	v := stateView{
		Server: s.run, Started: s.started, Tasks: tasks, Instances: s.runner.views(visible), Offers: s.openOffers(visible), Questions: []questionView{},
		Decisions: s.decisions.all(func(d decisionView) bool { return visible(d.Task) }),
		Nets:      s.nets.all(func(n netView) bool { return visible(n.Task) }),
		Unasked:   s.unasked.all(func(u unaskedView) bool { return visible(u.Task) }),
		Closed:    s.closed.all(func(c closedView) bool { return visible(c.Task) }),
		Acted:     s.acts.all(func(a actedView) bool { return visible(a.Task) }),
		Texts:     s.spoken.all(visible),
		Agents:    s.agentViews(o),
		Limited:   limited(o),
	}
	for _, q := range questions {
		if visible(q.Task) {
			v.Questions = append(v.Questions, viewQuestion(q))
		}
	}
	return v, nil
}

func (s *Server) taskViews(who task.Actor, watched task.ID) ([]taskView, error) {
	tasks, err := s.tasks.List(who)
	if err != nil {
		return nil, err
	}
	visible := s.visible(who, watched)
	views := []taskView{}
	for _, t := range tasks {
		if watched == "" || visible(t.ID) {
			views = append(views, viewTask(s.hideParent(who, t), s.runner.note(t.ID)))
		}
	}
	return views, nil
}

// oneTask makes the view of a task for somebody.
func (s *Server) oneTask(o dispatch.Origin) func(task.Task, error) (any, error) {
	return func(t task.Task, err error) (any, error) {
		if err != nil {
			return nil, err
		}
		return viewTask(s.hideParent(actor(o), t), s.runner.note(t.ID)), nil
	}
}

// hideParent takes the id of its parent from a task for somebody who does not see that.
func (s *Server) hideParent(who task.Actor, t task.Task) task.Task {
	if !s.reached(who)(t.Parent) {
		t.Parent = ""
	}
	return t
}

// startTask makes a task for a person.
func (s *Server) startTask(ctx context.Context, o dispatch.Origin, in startPayload) (any, error) {
	spec := task.Spec{Title: in.Title, Parent: in.Parent, Prompt: in.Prompt, Agent: in.Agent, Directory: in.Directory}
	return s.oneTask(o)(s.create(ctx, o, spec))
}

// create makes a task whose agent is known: the named one, that of its parent, or the
// default.
func (s *Server) create(ctx context.Context, o dispatch.Origin, spec task.Spec) (task.Task, error) {
	if id, isTask := o.Identity(); isTask {
		spec.Parent = task.ID(id.Task)
	}
	if spec.Parent == "" && limited(o) {
		return task.Task{}, errLimited
	}
	var parent task.Task
	if spec.Parent != "" {
		if !s.reached(actor(o))(spec.Parent) {
			return task.Task{}, errNoParent
		}
		var err error
		if parent, err = s.tasks.Get(task.Host{}, spec.Parent); err != nil { // forgotten just now
			return task.Task{}, errNoParent
		}
	}
	named := cmp.Or(spec.Agent, parent.Agent)
	name, agent, known := s.config.agent(named)
	switch {
	case !known && named == "":
		return task.Task{}, errWhich
	case !known:
		return task.Task{}, errNoAgent
	}
	if err := s.mayTell(o, agent); err != nil {
		return task.Task{}, err
	}
	if !isDirectory(spec.Directory) { // after the rest: who may start nothing learns of no folder
		return task.Task{}, errDirectory
	}
	spec.Agent, spec.Directory = name, cmp.Or(spec.Directory, parent.Directory, agent.Directory)
	if spec.Prompt != "" && s.runner.draining() {
		return task.Task{}, errDraining
	}
	made, err := s.tasks.Create(ctx, actor(o), spec)
	if err == nil {
		s.log.Info("a task was made", "task", made.ID, "parent", made.Parent, "agent", name)
	}
	return made, err
}

var errDirectory = &dispatch.Error{Code: dispatch.CodeInvalidPayload, Message: "the directory has to be the absolute path of a folder that is there"}

// isDirectory says whether an agent can work in a directory, or none is named.
func isDirectory(path string) bool { return path == "" || filepath.IsAbs(path) && isFolder(path) }
