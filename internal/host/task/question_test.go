package task

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// said is what came of a question.
type said struct {
	answer Answer
	err    error
}

// ask asks a question and waits until it is open. It must be the only one of its task.
func ask(ctx context.Context, t *testing.T, s *Service, id ID) (question string, came <-chan said) {
	t.Helper()
	events, stop := s.Watch(10)
	defer stop()
	c := make(chan said, 1)
	go func() {
		a, err := s.Ask(ctx, Session{id}, "red or blue?", []string{"red", "blue"})
		c <- said{a, err}
	}()
	for ev := range events {
		if ev.Kind == Asked && ev.Question.Task == id {
			return ev.Question.ID, c
		}
	}
	t.Fatal("the question was not asked")
	return "", nil
}

// Questions are answered by people only, and once.
func TestWhoMayAnswer(t *testing.T) {
	s, _ := newService(t)
	ids := family(t, s)
	question, came := ask(t.Context(), t, s, ids["me"])
	for name, test := range map[string]struct {
		who  Actor
		want error
	}{
		"the session itself":      {Session{ids["me"]}, ErrForbidden},
		"its parent":              {Session{ids["parent"]}, ErrForbidden},
		"a child":                 {Session{ids["child"]}, ErrForbidden},
		"the host":                {Host{}, ErrForbidden},
		"nobody":                  {nil, ErrForbidden},
		"without the scope":       {person("operate"), ErrForbidden},
		"without any scope":       {person(""), ErrForbidden},
		"limited to another task": {person("answer", ids["child"]), ErrNotFound},
		"limited to no task":      {person("answer", "task-unknown"), ErrNotFound},
	} {
		assert.Equal(t, test.want, s.Answer(test.who, question, "red"), name)
	}
	for _, text := range []string{"", " \n", "\xff", strings.Repeat("x", MaxAnswer+1)} {
		assert.ErrorIs(t, s.Answer(person("answer"), question, text), ErrInvalid)
	}
	assert.Equal(t, ErrNotFound, s.Answer(person("answer"), "question-unknown", "red"))
	require.Len(t, came, 0)

	require.NoError(t, s.Answer(person("answer", ids["parent"]), question, "green, please"))
	assert.Equal(t, said{Answer{"green, please", "wall"}, nil}, <-came)
	assert.Equal(t, ErrAnswered, s.Answer(person("answer"), question, "blue"))
	assert.Equal(t, ErrNotFound, s.Answer(person("answer", ids["child"]), question, "blue"), "it looks unknown for others")
}

func TestOneAnswerCounts(t *testing.T) {
	s, _ := newService(t)
	question, came := ask(t.Context(), t, s, make1(t, s, "task", ""))
	var won atomic.Int32
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			if err := s.Answer(person("answer"), question, fmt.Sprint(n)); err == nil {
				won.Add(1)
			} else {
				assert.Equal(t, ErrAnswered, err)
			}
		})
	}
	all.Wait()
	assert.EqualValues(t, 1, won.Load())
	assert.NoError(t, (<-came).err)
}

func TestWhoMayAsk(t *testing.T) {
	s, _ := newService(t)
	ids := family(t, s)
	for who, want := range map[Actor]error{Host{}: ErrForbidden, Session{}: ErrNotFound, Session{"task-unknown"}: ErrNotFound} {
		_, err := s.Ask(t.Context(), who, "may I?", nil)
		assert.Equal(t, want, err, name(who))
	}
	for _, who := range []Actor{nil, person("all"), &Session{ids["me"]}} {
		_, err := s.Ask(t.Context(), who, "may I?", nil)
		assert.Equal(t, ErrForbidden, err)
	}
	for name, test := range map[string]struct {
		text    string
		options []string
	}{
		"empty":        {" ", nil},
		"long":         {strings.Repeat("x", MaxQuestion+1), nil},
		"bytes":        {"\xff", nil},
		"many options": {"may I?", make([]string, MaxOptions+1)},
		"empty option": {"may I?", []string{"yes", ""}},
		"long option":  {"may I?", []string{strings.Repeat("x", MaxOption+1)}},
		"two lines":    {"may I?", []string{"a\nb"}},
	} {
		_, err := s.Ask(t.Context(), Session{ids["me"]}, test.text, test.options)
		assert.ErrorIs(t, err, ErrInvalid, name)
	}
	_, came := ask(t.Context(), t, s, ids["me"])
	require.Len(t, came, 0, "a good one waits")
	s.Close()
	assert.Equal(t, ErrGone, (<-came).err)
	_, err := s.Ask(t.Context(), Session{ids["me"]}, "may I?", nil)
	assert.Equal(t, ErrGone, err, "nobody would answer")
}

// A question ends with its tool call, with its task and with the server.
// closings are the events that questions were closed, of the questions the ids alone.
func closings(events <-chan Event) (closed []Event) {
	for ev := range events {
		if ev.Kind == QuestionClosed {
			ev.Question = Question{ID: ev.Question.ID}
			closed = append(closed, ev)
		}
	}
	return closed
}

func TestQuestionsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(t *testing.T, s *Service, id ID, cancel func())
		want error
	}{
		"the tool call": {func(_ *testing.T, _ *Service, _ ID, cancel func()) { cancel() }, context.Canceled},
		"the task is stopped": {func(t *testing.T, s *Service, id ID, _ func()) {
			_, err := s.Stop(t.Context(), Host{}, id)
			require.NoError(t, err)
		}, ErrGone},
		"the task above is stopped": {func(t *testing.T, s *Service, id ID, _ func()) {
			_, err := s.Stop(t.Context(), Host{}, get(t, s, id).Parent)
			require.NoError(t, err)
		}, ErrGone},
		"the task failed": {func(t *testing.T, s *Service, id ID, _ func()) {
			_, err := s.Report(t.Context(), Host{}, id, Report{State: Failed})
			require.NoError(t, err)
		}, ErrGone},
		"the task is complete": {func(t *testing.T, s *Service, id ID, _ func()) {
			_, err := s.Complete(t.Context(), Session{id}, "done")
			require.NoError(t, err)
		}, ErrGone},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newService(t)
			id := make1(t, s, "task", make1(t, s, "above", ""))
			_, other := ask(t.Context(), t, s, make1(t, s, "beside", ""))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			question, came := ask(ctx, t, s, id)
			events, stop := s.Watch(100)
			test.end(t, s, id, cancel)
			assert.Equal(t, test.want, (<-came).err)
			stop()
			assert.Equal(t, []Event{{Kind: QuestionClosed, Question: Question{ID: question}}}, closings(events))
			assert.Equal(t, ErrGone, s.Answer(person("answer"), question, "red"))
			assert.Equal(t, ErrNotFound, s.Answer(person("answer", "task-unknown"), question, "red"))
			list, err := s.Questions(person("view"))
			require.NoError(t, err)
			assert.Len(t, list, 1, "the other one is still open")
			require.NoError(t, s.Answer(person("answer"), list[0].ID, "blue"))
			assert.NoError(t, (<-other).err)
		})
	}
}

func TestQuestionsAreBounded(t *testing.T) {
	s, _ := newService(t)
	id, other := make1(t, s, "task", ""), make1(t, s, "other", "")
	for range MaxOpenOfTask {
		_, err := s.openQuestion(id, "may I?", nil)
		require.NoError(t, err)
	}
	_, err := s.Ask(t.Context(), Session{id}, "may I?", nil)
	assert.ErrorIs(t, err, ErrFull)
	o, err := s.openQuestion(other, "may I?", nil)
	require.NoError(t, err)
	require.NoError(t, s.Answer(person("answer"), o.ID, "yes"))

	s.mu.Lock()
	for n := range MaxOpen {
		s.questions.open[fmt.Sprint(n)] = &openQuestion{answer: make(chan Answer, 1)}
	}
	s.mu.Unlock()
	_, err = s.Ask(t.Context(), Session{other}, "may I?", nil)
	assert.ErrorIs(t, err, ErrFull)
}

func TestOldQuestionsAreForgotten(t *testing.T) {
	s, _ := newService(t)
	id := make1(t, s, "task", "")
	var questions []string
	for range rememberedQuestions + 1 {
		o, err := s.openQuestion(id, "may I?", nil)
		require.NoError(t, err)
		require.NoError(t, s.Answer(person("answer"), o.ID, "yes"))
		questions = append(questions, o.ID)
	}
	assert.Equal(t, ErrNotFound, s.Answer(person("answer"), questions[0], "yes"))
	assert.Equal(t, ErrAnswered, s.Answer(person("answer"), questions[1], "yes"))
	assert.Len(t, s.questions.ended, rememberedQuestions)
	assert.Len(t, s.questions.order, rememberedQuestions)
}

func TestWhoMayListQuestions(t *testing.T) {
	s, _ := newService(t)
	ids := family(t, s)
	var questions []string
	for _, name := range []string{"stranger", "me"} {
		o, err := s.openQuestion(ids[name], "may I?", nil)
		require.NoError(t, err)
		questions = append(questions, o.ID)
	}
	for _, test := range []struct {
		who  Actor
		want []string
		err  error
	}{
		{person("view"), questions, nil},
		{Host{}, questions, nil},
		{person("view", ids["parent"]), questions[1:], nil},
		{person("view", ids["child"]), nil, nil},
		{person("answer"), nil, ErrForbidden},
		{Session{ids["me"]}, nil, ErrForbidden},
		{nil, nil, ErrForbidden},
	} {
		list, err := s.Questions(test.who)
		assert.Equal(t, test.err, err, name(test.who))
		var got []string
		for _, q := range list {
			got = append(got, q.ID)
			assert.Equal(t, []any{"may I?", []string{}}, []any{q.Text, q.Options})
		}
		assert.Equal(t, test.want, got, name(test.who))
	}
}

// A running task with an open question waits; nothing of that is stored.
func TestTaskWithAQuestionWaits(t *testing.T) {
	s, _ := newService(t)
	id := make1(t, s, "task", "")
	_, err := s.Message(t.Context(), Host{}, id, "begin")
	require.NoError(t, err)
	revision := s.tasks[id].revision
	question, came := ask(t.Context(), t, s, id)
	assert.Equal(t, Waiting, get(t, s, id).State)
	events, stop := s.Watch(10)
	require.NoError(t, s.Answer(person("answer"), question, "red"))
	<-came
	assert.Equal(t, Running, get(t, s, id).State)
	assert.Equal(t, revision, s.tasks[id].revision)
	stop()
	var got []any
	for ev := range events {
		got = append(got, ev.Kind, ev.By, ev.Task.State)
	}
	assert.Equal(t, []any{QuestionClosed, "wall", State(""), Changed, "", Running}, got)
}
