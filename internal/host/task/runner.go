package task

import "context"

// Runner runs the agents of tasks. Calls for one task come one at a time, and no
// [Runner.Prompt] comes after a [Runner.Stop]. What becomes of a task the runner
// tells by [Service.Report], from another goroutine than the call's.
type Runner interface {
	// Prompt hands a text over to the task's agent, which is started or resumed
	// first if it does not run. It does not wait for the agent. While a turn is
	// under way the text is for the next one.
	Prompt(ctx context.Context, t Task, text string) error
	// Interrupt cancels the turn that is under way, with texts that wait for the
	// next one, and says whether there was one. It begins none.
	Interrupt(ctx context.Context, t Task) (running bool, err error)
	// Stop ends the task's agent, if one is there, waits for it, and says whether there
	// was one. From the call on nothing is approved for it automatically. It is called
	// again when it failed, and when a task is stopped again.
	Stop(ctx context.Context, t Task) (ended bool, err error)
}
