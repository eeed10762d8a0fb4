package task

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/kandev/assent/internal/host/dispatch"
)

// Question is what a session asks people about its task.
type Question struct {
	ID      string    `json:"id"`
	Task    ID        `json:"task"`
	Text    string    `json:"text"`
	Options []string  `json:"options"` // answers that the session proposes; others are possible
	Opened  time.Time `json:"opened"`
}

// Answer is what a person said.
type Answer struct {
	Text string
	By   string // the name of the person's token
}

// openQuestion waits. Its channel takes one answer, or is closed.
type openQuestion struct {
	Question
	answer chan Answer
}

// questions are those that are open, and the last ones that were.
type questions struct {
	open  map[string]*openQuestion
	ended map[string]endedQuestion
	order []string // of ended, oldest first
}

type endedQuestion struct {
	task ID
	err  error // what a late answer is told
}

func newQuestions() questions {
	return questions{open: map[string]*openQuestion{}, ended: map[string]endedQuestion{}}
}

func (q *questions) ofTask(id ID) (count int) {
	for _, o := range q.open {
		if o.Task == id {
			count++
		}
	}
	return count
}

// close moves a question to the ended ones.
func (q *questions) close(o *openQuestion, err error) {
	delete(q.open, o.ID)
	q.ended[o.ID] = endedQuestion{o.Task, err}
	q.order = append(q.order, o.ID)
	if len(q.order) > rememberedQuestions {
		delete(q.ended, q.order[0])
		q.order = slices.Delete(q.order, 0, 1)
	}
}

// Ask asks a question for the session's own task and waits for the answer. The
// question is gone when ctx ends, and with [ErrGone] when the task does.
func (s *Service) Ask(ctx context.Context, who Actor, text string, options []string) (Answer, error) {
	own, ok := who.(Session)
	if !ok {
		return Answer{}, ErrForbidden
	}
	if err := checkQuestion(text, options); err != nil {
		return Answer{}, err
	}
	o, err := s.openQuestion(own.Task, text, options)
	if err != nil {
		return Answer{}, err
	}
	select {
	case a, ok := <-o.answer:
		if !ok {
			return Answer{}, ErrGone
		}
		return a, nil
	case <-ctx.Done():
		return s.withdraw(ctx, o)
	}
}

func checkQuestion(text string, options []string) error {
	if err := checkText("the question", text, MaxQuestion); err != nil {
		return err
	}
	if len(options) > MaxOptions {
		return invalid("too many options: leave some out")
	}
	for _, option := range options {
		if err := checkLine("an option", option, MaxOption); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) openQuestion(id ID, text string, options []string) (*openQuestion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.tasks[id]
	switch {
	case s.closed:
		return nil, ErrGone
	case !ok:
		return nil, ErrNotFound
	case n.task.State.Ended():
		return nil, ErrEnded
	case s.questions.ofTask(id) >= MaxOpenOfTask || len(s.questions.open) >= MaxOpen:
		return nil, full("too many questions are open: wait until some are answered")
	}
	o := &openQuestion{
		Question{"question-" + strings.ToLower(rand.Text()[:16]), id, text, append([]string{}, options...), now()},
		make(chan Answer, 1),
	}
	s.questions.open[o.ID] = o
	s.tell(Event{Kind: Asked, Question: o.Question})
	s.tell(Event{Kind: Changed, Task: s.view(n)})
	return o, nil
}

// withdraw ends a question whose asker has gone, unless it was just answered.
func (s *Service) withdraw(ctx context.Context, o *openQuestion) (Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.questions.open[o.ID] == nil {
		if a, ok := <-o.answer; ok {
			return a, nil
		}
		return Answer{}, ErrGone
	}
	s.closeQuestion(o, ErrGone, "")
	return Answer{}, ctx.Err()
}

// closeQuestion tells of the end of a question. The lock is held.
func (s *Service) closeQuestion(o *openQuestion, err error, by string) {
	s.questions.close(o, err)
	close(o.answer)
	s.tell(Event{Kind: QuestionClosed, Question: o.Question, Answered: err == ErrAnswered, By: by})
	if n, ok := s.tasks[o.Task]; ok && !n.task.State.Ended() {
		s.tell(Event{Kind: Changed, Task: s.view(n)})
	}
}

// endQuestions ends those that somebody chooses. The lock is held.
func (s *Service) endQuestions(which func(Question) bool) {
	for _, o := range s.questions.open {
		if which(o.Question) {
			s.closeQuestion(o, ErrGone, "")
		}
	}
}

// Answer answers a question; only people do, and the first one counts. Errors
// besides those of all methods: [ErrAnswered] and [ErrGone], about questions of
// tasks that the person sees.
func (s *Service) Answer(who Actor, question, text string) error {
	person, ok := who.(Person)
	if !ok || !person.Scopes.Has(dispatch.ScopeAnswer) {
		return ErrForbidden
	}
	if err := checkText("the answer", text, MaxAnswer); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, ok := s.questions.open[question]; ok && s.sees(who, o.Task) {
		o.answer <- Answer{Text: text, By: person.Name}
		s.closeQuestion(o, ErrAnswered, person.Name)
		return nil
	}
	if e, ok := s.questions.ended[question]; ok && s.sees(who, e.task) {
		return e.err
	}
	return ErrNotFound
}

// Questions lists the open questions of tasks that a person or the host sees,
// oldest first.
func (s *Service) Questions(who Actor) ([]Question, error) {
	if _, ok := who.(Session); ok {
		return nil, ErrForbidden
	}
	if err := allowed(who, dispatch.ScopeView); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []Question{}
	for _, o := range s.questions.open {
		if s.sees(who, o.Task) {
			list = append(list, o.Question)
		}
	}
	slices.SortFunc(list, func(a, b Question) int {
		return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}
