package task

import "errors"

// Errors of this package, for [errors.Is]. They hold nothing of a task.
var (
	ErrNotFound  = errors.New("task: there is no such task or question, or it is not yours to do this with: list those that you see")
	ErrForbidden = errors.New("task: you may not do this with any task")
	ErrEnded     = errors.New("task: the task has ended and stays so: create another one")
	ErrChildren  = errors.New("task: tasks below it have not ended: wait for them, or stop them")
	ErrFull      = errors.New("task: too many")
	ErrInvalid   = errors.New("task: not possible")
	// ErrStays: the agent of a task that is stopped has not ended. What it wraps says why.
	ErrStays = errors.New("task: its agent has not ended: stop it again")
	// ErrAnswered: somebody answered the question before.
	ErrAnswered = errors.New("task: the question is already answered")
	// ErrGone: the question ended without an answer, as its tool call or task did.
	ErrGone = errors.New("task: the question is gone: nobody waits for its answer any more")
)

// invalid says what is wrong with an input, in words for a person or a model.
type invalid string

func (e invalid) Error() string { return "task: " + string(e) }

func (e invalid) Is(target error) bool { return target == ErrInvalid }

// full says which bound is reached.
type full string

func (e full) Error() string { return "task: " + string(e) }

func (e full) Is(target error) bool { return target == ErrFull }
