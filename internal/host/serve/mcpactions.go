package serve

import (
	"context"
	"time"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/mcptools"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/task"
)

// modelTask is a task as a model reads it.
type modelTask struct {
	ID      task.ID    `json:"id"`
	Parent  task.ID    `json:"parent,omitempty"`
	Title   string     `json:"title"`
	State   task.State `json:"state"`
	Agent   string     `json:"agent,omitempty"`
	Summary string     `json:"summary,omitempty"`
	Created time.Time  `json:"created"`
}

func modelOf(t task.Task) modelTask {
	return modelTask{t.ID, t.Parent, t.Title, t.State, t.Agent, t.Summary, t.Created}
}

// internalActions are those behind the tools of MCP servers.
func (s *Server) internalActions() []dispatch.Action {
	return []dispatch.Action{
		action(mcptools.ActionCreateTask, "Makes a task, below the caller's own if it is one.", dispatch.ScopeOperate, s.mcpCreate),
		action(mcptools.ActionListTasks, "Lists the tasks that the caller reaches.", dispatch.ScopeView, s.mcpList),
		action(mcptools.ActionGetTask, "Returns a task that the caller reaches.", dispatch.ScopeView, func(_ context.Context, o dispatch.Origin, in mcptools.TaskID) (any, error) {
			t, err := s.tasks.Get(actor(o), task.ID(in.Task))
			return modelOf(s.hideParent(actor(o), t)), err
		}),
		action(mcptools.ActionStopTask, "Ends a task: of another task its direct parent alone.", dispatch.ScopeOperate, func(ctx context.Context, o dispatch.Origin, in mcptools.TaskID) (any, error) {
			return s.stopTask(ctx, o, task.ID(in.Task))
		}),
		action(mcptools.ActionMessageTask, "Tells the agent of a task something.", dispatch.ScopeOperate, s.mcpMessage),
		action(mcptools.ActionAskUserQuestion, "Asks people a question about the caller's own task and waits for the answer.", "", s.mcpAsk),
		action(mcptools.ActionStepComplete, "Ends the caller's own task as done.", "", func(ctx context.Context, o dispatch.Origin, in mcptools.Completion) (any, error) {
			t, err := s.tasks.Complete(ctx, actor(o), in.Summary)
			if err == nil {
				s.runner.completed(t.ID) // before the agent hears of it
				s.log.Info("a task is completed", "task", t.ID)
			}
			return modelOf(t), err
		}),
		action(mcptools.ActionListPermissions, "Lists the open offers that a person may answer.", dispatch.ScopeAnswer, s.mcpOffers),
		action(mcptools.ActionResolvePermission, "Answers an offer for a person.", dispatch.ScopeAnswer, func(ctx context.Context, o dispatch.Origin, in mcptools.Resolution) (any, error) {
			a := answerPayload{Choice: in.Choice}
			if in.Option != "" {
				a.Option = &in.Option
			}
			return s.resolve(ctx, o, offerPayload{in.Session, pending.RequestID(in.Request)}, a)
		}),
	}
}

// mcpCreate makes a task. Where the caller is one, its own is the parent, and the
// payload must not say otherwise.
func (s *Server) mcpCreate(ctx context.Context, o dispatch.Origin, in mcptools.NewTaskAnywhere) (any, error) {
	if _, ok := o.Identity(); ok && in.Parent != "" {
		return nil, &dispatch.Error{Code: dispatch.CodeInvalidPayload, Message: "the parent of a new task is the caller's own: leave it out"}
	}
	t, err := s.create(ctx, o, task.Spec{Title: in.Title, Prompt: in.Prompt, Agent: in.Agent, Parent: task.ID(in.Parent)})
	if err != nil {
		return nil, err
	}
	return modelOf(t), nil
}

func (s *Server) mcpList(_ context.Context, o dispatch.Origin, _ mcptools.Nothing) (any, error) {
	tasks, err := s.tasks.List(actor(o))
	list := []modelTask{}
	for _, t := range tasks {
		list = append(list, modelOf(s.hideParent(actor(o), t)))
	}
	return map[string]any{"tasks": list}, err
}

// modelOffer is an open offer as a model reads it: with what people call the task, and
// with the configured name of its agent, since several can have one id.
type modelOffer struct {
	offerView
	Title string `json:"task_title"`
	Named string `json:"task_agent"`
}

// mcpOffers lists the open offers, as [Server.listOffers] does.
func (s *Server) mcpOffers(ctx context.Context, o dispatch.Origin, _ mcptools.Nothing) (any, error) {
	list := []modelOffer{}
	for _, v := range s.offersFor(ctx, o) {
		offer := modelOffer{offerView: v}
		if t, err := s.tasks.Get(task.Host{}, v.Task); err == nil { // else it is forgotten just now
			offer.Title, offer.Named = display.Line(t.Title, maxShownLine), t.Agent
		}
		list = append(list, offer)
	}
	return map[string]any{"offers": list}, nil
}

// mcpMessage tells a task something. Whether it is told at once is in the result.
func (s *Server) mcpMessage(ctx context.Context, o dispatch.Origin, in mcptools.Message) (any, error) {
	before, err := s.tasks.Get(actor(o), task.ID(in.Task))
	if err != nil {
		return nil, err
	}
	if _, err := s.message(ctx, o, before.ID, in.Text); err != nil {
		return nil, err
	}
	delivered := "at once"
	if before.State == task.Running || before.State == task.Waiting {
		delivered = "when its turn is over"
	}
	return map[string]string{"delivered": delivered}, nil
}

// mcpAsk waits for a person: as long as the call and the task are there.
func (s *Server) mcpAsk(ctx context.Context, o dispatch.Origin, in mcptools.Question) (any, error) {
	a, err := s.tasks.Ask(ctx, actor(o), in.Text, in.Options)
	if err != nil {
		return nil, err
	}
	return map[string]string{"answer": a.Text}, nil
}
