// Package serve is the daemon behind `assent serve`: it runs agents for tasks, puts
// what their requests wait for in front of people, and does what the gateway, the
// agents' own MCP servers and the external one ask for.
//
// Everything that is asked for is an action of one dispatcher. The handlers here
// take who asks from the origin of the dispatch, never from its payload: a task from
// an agent stream, a person with scopes and tasks from a token. What a person may not
// see looks like what does not exist.
//
// A task has at most one agent at a time. What an agent asks for waits in one
// [pending.Store]; the first answer counts, wherever it comes from. After a restart
// the tasks are there, their sessions are taken up again where the agent can, and
// the offers of the earlier run are gone.
package serve
