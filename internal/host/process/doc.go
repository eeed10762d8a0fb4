// Package process runs agents and owns the automatic permission decision.
//
// A [Manager] starts agents. An [Instance] is one agent process with its
// settings, its pipeline and its injected MCP server; a [Session] is one
// conversation with it. The agent's lines are read in order by one goroutine,
// which decides every permission request at once and never waits for a person:
// what the pipeline does not decide waits in the host's [pending.Store], without a
// goroutine, and whoever ends it there (a person, the agent, a cancelled session,
// the clock) has its answer line written. It is exactly one for each offer, and
// none after the agent has gone.
//
// Around the pipeline are the nets. Before a decision the endpoint's record of the
// request's own session is put into the request, for the witness stage. An approved
// call has to arrive at the endpoint; one that does not ends automatic approval for
// the instance, or for its session alone where the endpoint was down. Every net,
// and every call that nobody was asked about, is reported once in each place: log,
// audit, metrics and [NetWatcher].
//
// Back-pressure instead of queues: a [Watcher] that is slow makes the reading
// slow, and so the agent. Lines to the agent wait in a bounded queue; an agent
// that does not read them is stopped.
//
// Nothing an agent said is logged but what passed a parser: no title, label,
// argument, option id or metadata, and of lines that are no messages only how
// long they are. What a person needs to see is in [Question], [Update] and
// [Decided], unescaped: package display makes it fit for a screen.
package process
