package serve

import (
	"context"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/gateway"
	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/host/task"
	"github.com/kandev/assent/pipeline"
)

// watcher is told by the process manager what agents do, and tells the people who
// watch. None of its methods waits for anybody.
type watcher struct{ s *Server }

var (
	_ process.Watcher    = watcher{}
	_ process.NetWatcher = watcher{}
)

// Values of sessionUpdate.
const (
	agentSays  = "agent_message_chunk" // what it says to people
	agentActs  = "tool_call"
	agentPlans = "plan"
)

// Updated passes on what the agent says.
func (w watcher) Updated(_ context.Context, u process.Update) {
	worker := w.s.runner.of(u.Instance)
	if worker == nil {
		return
	}
	switch v := u.View(); {
	case v.Kind == agentSays && v.Text != "":
		w.s.say(worker.task.ID, fromAgent, v.Text)
	case v.Kind == agentActs, v.Kind == agentPlans:
		w.s.spoken.pause(worker.task.ID)
	}
}

// Decided notes whose offer it is, and tells of automatic decisions.
func (w watcher) Decided(_ context.Context, d process.Decided) {
	worker := w.s.runner.of(d.Instance)
	if worker == nil {
		return
	}
	if d.Result.Decision.Verdict == pipeline.Pend {
		w.s.offers.add(d.Request, knownOffer{
			instance: d.Instance, task: worker.task.ID, agent: worker.config.ID, trace: d.Result.Trace, over: &offerOver{done: make(chan struct{})},
		})
		return
	}
	v := viewDecision(worker.task.ID, &d)
	w.s.decisions.add(v.Task, &v, &v.Number)
	w.s.publish("decision", worker.task.ID, map[string]any{"decision": v})
}

// Asked tells of a new offer.
func (w watcher) Asked(_ context.Context, q process.Question) {
	w.s.runner.waits(q.Instance, +1)
	known, ok := w.s.offers.find(q.Request)
	snapshot, err := w.s.store.Get(q.Key)
	if !ok || err != nil {
		return // it has ended meanwhile, and nobody has seen it
	}
	w.s.offers.shown(q.Request, snapshot.Action)
	v := viewOffer(&snapshot, known)
	w.s.publish("offer.opened", known.task, map[string]any{"offer": v})
	w.s.hook.opened(v, known.over.done)
}

// Answered tells that an offer is over. One that ended before anybody could be told of it
// is remembered for nobody.
func (w watcher) Answered(_ context.Context, a process.Answered) {
	w.s.runner.waits(a.Instance, -1)
	known, ok := w.s.offers.find(a.Outcome.Key.Request)
	if !ok {
		return
	}
	known.over.sent = a.Sent
	close(known.over.done)
	w.s.offers.end(a.Outcome.Key.Request)
	v := viewClosed(&a.Outcome, known)
	if known.seen {
		w.s.closed.add(v.Task, &v, &v.Number)
	}
	w.s.publish("offer.closed", known.task, v)
}

// Fired tells of a net, and of an instance that has lost automatic approval.
func (w watcher) Fired(_ context.Context, f process.Fired) {
	worker := w.s.runner.of(f.Instance)
	if worker == nil {
		return
	}
	v := viewNet(worker.task.ID, f.Fired)
	w.s.nets.add(v.Task, &v, &v.Number)
	w.s.publish("net", worker.task.ID, v)
	if f.Reason == nets.ReasonTripwireFired {
		worker.change(func(v *instanceView) { v.Automatic = false })
	}
}

// Unasked tells of a call that nobody was asked about.
func (w watcher) Unasked(_ context.Context, u process.Unasked) {
	worker := w.s.runner.of(u.Instance)
	if worker == nil {
		return
	}
	v := viewUnasked(worker.task.ID, u.Unasked)
	w.s.unasked.add(v.Task, &v, &v.Number)
	w.s.publish("unasked", worker.task.ID, v)
}

// publish tells the people who may see a task. What cannot be written is a mistake
// of ours.
func (s *Server) publish(name string, of task.ID, payload any) {
	s.publishOnly(name, of, payload, nil)
}

// publishOnly tells some of the people who may see a task; only is nil for all.
func (s *Server) publishOnly(name string, of task.ID, payload any, only func(dispatch.Person) bool) {
	s.publishEvent(gateway.Event{Name: name, Task: string(of), Payload: payload, Only: only})
}

func (s *Server) publishEvent(e gateway.Event) {
	if err := s.gateway.Publish(e); err != nil {
		s.log.Error("an event could not be published", "event", e.Name, "error", err)
	}
}

// follow publishes what happens to tasks, until the channel is closed.
func (s *Server) follow(events <-chan task.Event) {
	for e := range events {
		switch e.Kind {
		case task.Changed:
			s.publishTask(e.Task)
			if e.Task.State == task.Completed {
				s.runner.completed(e.Task.ID)
			}
		case task.Asked:
			s.publish("question.opened", e.Question.Task, map[string]any{"question": viewQuestion(e.Question)})
		case task.QuestionClosed:
			s.publish("question.closed", e.Question.Task, questionClosed{e.Question.ID, e.Answered, byView{e.By}})
		case task.Lagged:
			s.publishAll()
		case task.Forgotten:
			s.publishGone(e)
		}
	}
}

// questionClosed says how a question ended.
type questionClosed struct {
	Question string `json:"question"`
	Answered bool   `json:"answered"`
	By       byView `json:"by"`
}

type byView struct {
	Name string `json:"name"`
}

func (s *Server) publishTask(t task.Task) {
	changed := func(t task.Task, only func(dispatch.Person) bool) {
		s.publishOnly("task.changed", t.ID, map[string]any{"task": viewTask(t, s.runner.note(t.ID))}, only)
	}
	if t.Parent == "" {
		changed(t, nil)
		return
	}
	sees := func(p dispatch.Person) bool { return s.reached(task.Person(p))(t.Parent) }
	orphan := t
	orphan.Parent = ""
	changed(t, sees)
	changed(orphan, func(p dispatch.Person) bool { return !sees(p) })
}

// publishGone tells those who saw a task that it is forgotten, and forgets the rest of it.
func (s *Server) publishGone(e task.Event) {
	s.publishEvent(gateway.Event{
		Name: "task.gone", Task: string(e.Task.ID), Payload: map[string]any{"task": e.Task.ID},
		MaySee: func(p dispatch.Person, watched string) bool { return e.Saw(task.Person(p), task.ID(watched)) },
	})
	s.forgetGone(e.Task.ID)
}

// forgetGone forgets the rest of a task, if that is forgotten: when it is, and when its
// agent, which may have gone on to speak, has ended.
func (s *Server) forgetGone(id task.ID) {
	if s.reached(task.Host{})(id) {
		return
	}
	gone := func(of task.ID) bool { return of == id }
	s.surfaces.forget(gone)
	s.spoken.forget(gone)
	s.forgetNumbers(gone)
	s.runner.disown(gone)
}

// forgetNumbers forgets those of tasks that are gone, in every list.
func (s *Server) forgetNumbers(gone func(task.ID) bool) {
	s.decisions.forget(gone)
	s.nets.forget(gone)
	s.unasked.forget(gone)
	s.closed.forget(gone)
	s.acts.forget(gone)
}

// publishAll tells of every task and open question, after some news were missed. What is
// gone meanwhile nobody knows here: everybody is told to ask for the state anew.
func (s *Server) publishAll() {
	gone := func(of task.ID) bool { return !s.reached(task.Host{})(of) }
	s.runner.disown(gone)
	s.surfaces.forget(gone)
	s.spoken.forget(gone)
	s.forgetNumbers(gone)
	tasks, _ := s.tasks.List(task.Host{}) // the host may list
	for _, t := range tasks {
		s.publishTask(t)
		if t.State == task.Completed {
			s.runner.completed(t.ID)
		}
	}
	questions, _ := s.tasks.Questions(task.Host{})
	for _, q := range questions {
		s.publish("question.opened", q.Task, map[string]any{"question": viewQuestion(q)})
	}
	s.publishEvent(gateway.Event{
		Name: "resync", Payload: struct{}{}, // it holds nothing of any task
		MaySee: func(dispatch.Person, string) bool { return true },
	})
}
