package pipeline

import "context"

// Name is the stable name of a stage: in the order list, traces, logs and tests.
type Name string

// Stage is one step of the decision.
type Stage interface {
	// Name is constant and unique within a pipeline.
	Name() Name
	// Evaluate is pure: no I/O, no logging, nothing kept, nothing in ev changed.
	// An error means that a person is asked; its text must hold nothing from the
	// request.
	Evaluate(ctx context.Context, ev Evaluation) (Decision, error)
}

// Evaluation is what a stage gets to see.
type Evaluation struct {
	// Request is shared and read-only.
	Request *Request
	// Facts are what the stages before this one learned.
	Facts Facts
}

// Order is the sequence of the stages, complete and explicit. A host that needs
// another one replaces it as a whole.
type Order []Name
