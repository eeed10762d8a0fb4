// Package dispatch is the one way to an action. Agent streams, the external MCP
// server, WebSocket clients and components of the process all call
// [Dispatcher.Dispatch], each with an [Origin] that its transport adapter made and
// that no bytes can make. A handler takes who is calling from the origin alone.
//
// Names that begin with "mcp." are internal: their handlers trust the identity that
// an MCP adapter fills in. They are open to agent streams, to the external MCP
// server and to the process, and to raw clients never, whatever spelling they use:
// see [Internal]. The gateway refuses them before the dispatcher is called, and the
// dispatcher refuses them once more. All other names are public: they are open to
// raw clients and to the process, and not to MCP adapters, so that an agent cannot
// reach what people do.
//
// A payload is one JSON object: exact keys, none twice, none that the schema of the
// action does not have. Nothing of a payload goes into an error or a log.
package dispatch
