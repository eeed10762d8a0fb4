package pipeline

// DialectFacts are the small facts that a dialect keeps of the updates of one
// tool call. They are comparable and bounded; raw input itself is never kept.
type DialectFacts struct {
	// Marked says that the agent's adapter marked the call as an MCP tool call.
	Marked bool
	// Server and Tool as the adapter wrote them beside the model's arguments.
	Server, Tool string
	// Conflict says that the updates of the call do not agree.
	Conflict bool
}

// ToolCallUpdate is one session/update about a tool call, as an [Observer] sees it.
type ToolCallUpdate struct {
	// ID is the toolCallId.
	ID string
	// Start says that the call is announced anew (tool_call), not updated.
	Start bool
	// Status as sent; empty when there is none.
	Status string
	// Meta is the update's own _meta.
	Meta Meta
	// RawInput holds the direct members of rawInput: short strings as they are,
	// deeper values as their kind only. A duplicate key makes it [MetaTooLarge].
	RawInput Meta
}

// Observer is implemented by dialects that need facts of earlier updates. It is
// pure, like a stage: it returns the facts as they stand after the update.
type Observer interface {
	Observe(u *ToolCallUpdate, f DialectFacts) DialectFacts
}

// StartupWatcher is implemented by dialects whose agent reports in an update
// that it did not start an MCP server.
type StartupWatcher interface {
	// StartupFailed says whether the update reports that the server of the given
	// name failed to start.
	StartupFailed(u *ToolCallUpdate, server string) bool
}

// OptionHint tells equal options apart where an agent offers twins. The ids are
// exact; an empty id is no hint.
type OptionHint struct {
	// Allow is the id of the plain one among several options of kind allow_once.
	Allow string
	// Reject is the id of the reject_once that lets the turn go on.
	Reject string
}
