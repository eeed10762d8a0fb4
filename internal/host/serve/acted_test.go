package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/task"
)

// of are the records of an event.
func of(records []audit.Record, event audit.Event) (list []audit.Record) {
	for _, r := range records {
		if r.Event == event {
			list = append(list, r)
		}
	}
	return list
}

// The audit says about an offer what it was about and of which task, and who ended a
// task or a turn that it was asked in. What changed nothing is no record.
func TestTheAuditOfWhatPeopleDo(t *testing.T) {
	r := begin(t, nil)
	p := r.dial(r.token("desk", all))
	p.watch()
	made := p.start("secret title", "shell")
	p.opens(made.ID)
	asked := of(r.records(), audit.Decision)
	require.Len(t, asked, 1)
	assert.Equal(t, [...]string{"execute", string(made.ID)}, [...]string{string(asked[0].Kind), asked[0].Task})

	who := fmt.Sprintf(`{"task":%q}`, made.ID)
	p.ask("task.cancel", who, nil)
	p.settles(made.ID, task.Idle)
	p.ask("task.cancel", who, nil)
	p.ask("task.stop", who, nil)
	p.ask("task.stop", who, nil)
	for _, line := range []string{
		`level=INFO msg="the server runs" listen=127.0.0.1:`, `level=INFO msg="a task was made" task=` + string(made.ID), `level=INFO msg="the agent of a task runs" task=` + string(made.ID),
		`msg="somebody acted on a task" what=stop task=` + string(made.ID) + ` by=desk surface=api`, `msg="the agent of a task has ended" task=` + string(made.ID),
	} {
		assert.Equal(t, 1, r.log.Count(line), line)
	}
	assert.NotContains(t, r.log.String(), "secret title")
	assert.Zero(t, r.log.Count("the server ends"))
	records := r.records()
	answers := of(records, audit.Answer)
	require.Len(t, answers, 1)
	assert.Equal(t, [...]string{"execute", string(made.ID)}, [...]string{string(answers[0].Kind), answers[0].Task})
	for _, event := range []audit.Event{audit.Interrupt, audit.Stop} {
		got := of(records, event)
		require.Len(t, got, 1, event)
		assert.Equal(t, [...]string{"desk", "api", string(made.ID)}, [...]string{got[0].By, got[0].Surface, got[0].Task}, event)
	}
	r.stop()
	assert.Equal(t, 1, r.log.Count("the server ends"))
	assert.Equal(t, 1, r.log.Count("no agent runs and no client is connected any more"))
}

// A parent's agent that stops a task is named by its task, a person that answers a
// question by the name of the token; the texts of both are not in it.
func TestTheAuditOfQuestionsAndOfAgents(t *testing.T) {
	r := begin(t, nil)
	p := r.dial(r.token("desk", all))
	p.watch()
	parent := p.start("parent", `create-child "shell"`)
	child := until(p, "task.changed", func(e taskEvent) bool { return e.Task.Parent == parent.ID }).Task
	p.opens(child.ID)
	p.settles(parent.ID, task.Idle)
	p.ask("task.prompt", fmt.Sprintf(`{"task":%q,"text":"stop-child"}`, parent.ID), nil)
	p.says(parent.ID, "Ran: stop_task_kandev of kandev.")
	stops := of(r.records(), audit.Stop)
	require.Len(t, stops, 1)
	assert.Equal(t, [...]string{string(parent.ID), "agent", string(child.ID)}, [...]string{stops[0].By, stops[0].Surface, stops[0].Task})

	asker := p.start("asker", `ask "Which s3cret?"`)
	asked := until(p, "question.opened", func(e struct {
		Question questionView `json:"question"`
	}) bool {
		return e.Question.Task == asker.ID
	}).Question
	answer := fmt.Sprintf(`{"question":%q,"answer":"s3cret"}`, asked.ID)
	p.ask("question.answer", answer, nil)
	assert.Equal(t, "conflict", p.refused("question.answer", answer))
	questions := of(r.records(), audit.Question)
	require.Len(t, questions, 1)
	assert.Equal(t, [...]string{"desk", "api", string(asker.ID)}, [...]string{questions[0].By, questions[0].Surface, questions[0].Task})
	text, err := os.ReadFile(filepath.Join(r.dir, auditName))
	require.NoError(t, err)
	assert.NotContains(t, string(text), "s3cret")
}

// Who stopped a task is known also when that could not be stored: its agent has ended.
func TestTheAuditOfAStopThatIsNotStored(t *testing.T) {
	for name, works := range map[string]bool{"a store that is gone": false, "one that works": true} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, nil)
			p := r.dial(r.token("desk", all))
			p.watch()
			made := p.start("made", "shell")
			p.opens(made.ID)
			stop := fmt.Sprintf(`{"task":%q}`, made.ID)
			if works {
				p.ask("task.stop", stop, nil)
			} else {
				require.NoError(t, r.state.Close())
				assert.Equal(t, "unavailable", p.refused("task.stop", stop))
			}
			stops := of(r.records(), audit.Stop)
			require.Len(t, stops, 1)
			assert.Equal(t, [...]string{"desk", string(made.ID)}, [...]string{stops[0].By, stops[0].Task})
		})
	}
}

// Who watches a task is told who did something to it, at once and later; who does not
// see the task above is not told which one that is.
func TestPeopleAreToldWhatIsDoneToTasks(t *testing.T) {
	r := begin(t, nil)
	p := r.dial(r.token("desk", all))
	p.watch()
	parent := p.start("parent", `create-child "shell"`)
	child := until(p, "task.changed", func(e taskEvent) bool { return e.Task.Parent == parent.ID }).Task
	p.opens(child.ID)
	p.settles(parent.ID, task.Idle)
	guest := r.dial(r.token("guest", all, string(child.ID)))
	guest.watch()
	p.ask("task.prompt", fmt.Sprintf(`{"task":%q,"text":"stop-child"}`, parent.ID), nil)
	p.says(parent.ID, "Ran: stop_task_kandev of kandev.")
	p.ask("task.stop", fmt.Sprintf(`{"task":%q}`, parent.ID), nil)
	did := func(p *peer, of task.ID) actedView {
		v := until(p, "acted", func(v actedView) bool { return v.Task == of })
		assert.WithinDuration(t, time.Now(), v.Time, time.Minute)
		v.Time, v.Number = time.Time{}, 0
		return v
	}
	byAgent := actedView{Task: child.ID, What: audit.Stop, By: pending.Responder{Surface: "agent"}}
	byDesk := actedView{Task: parent.ID, What: audit.Stop, By: pending.Responder{Name: "desk", Surface: "api"}}
	assert.Equal(t, byAgent, did(guest, child.ID))
	assert.Equal(t, byAgent, did(p, child.ID))
	assert.Equal(t, byDesk, did(p, parent.ID))
	for token, want := range map[string][]actedView{r.token("later", all): {byAgent, byDesk}, r.token("child", all, string(child.ID)): {byAgent}} {
		var got struct {
			Started time.Time   `json:"started"`
			Acted   []actedView `json:"acted"`
		}
		r.dial(token).ask("state.watch", "{}", &got)
		assert.WithinDuration(t, time.Now(), got.Started, time.Minute)
		for i := range got.Acted {
			assert.EqualValues(t, 1, got.Acted[i].Number, "the first of its task")
			got.Acted[i].Time, got.Acted[i].Number = time.Time{}, 0
		}
		assert.Equal(t, want, got.Acted)
	}
}
