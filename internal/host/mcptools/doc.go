// Package mcptools is what a model finds at the host's MCP servers: the tools of an
// agent's own endpoint (task mode) and of the server for other MCP clients (external
// mode). A tool only hands its arguments to an action "mcp.*"; who calls is said by
// the [Caller] that the tool was made with, never by an argument. What an action
// does, and for whom, is decided behind the dispatcher.
//
// The list of tools is the boundary of a mode: the external mode has no tool that
// stops a task, asks a question or reports completion.
package mcptools
