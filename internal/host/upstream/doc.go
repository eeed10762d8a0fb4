// Package upstream speaks to one MCP server of the user: the target that an
// endpoint stands in front of.
//
// A [Client] is one session with the target, over streamable HTTP, the older HTTP
// with SSE, or the stdin and stdout of a program. What the target answers is
// handed on as the bytes it sent: results, and the code, message and data of
// errors. Nothing of it is kept, and no [Failure] quotes it.
//
// Headers and environment of a [Target] are secrets: they go to the target alone.
package upstream
