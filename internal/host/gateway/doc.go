// Package gateway is the daemon's door: HTTP, WebSocket clients, the page and the
// external MCP server behind one set of checks.
//
// Every request passes, in this order: the Host header has to be a name of the
// loopback with the listener's port, the address that was listened at, or configured
// (DNS rebinding); an Origin header, where there is one, has to be that very host or
// configured (cross-site requests, WebSocket hijacking, null origins); and, but for
// health and the files of the page, which hold no data, a token has to be known. A
// token comes in the Authorization header, or in a WebSocket client's first message,
// and never in a cookie, which every server on another port of the same host would
// get.
//
// A WebSocket client sends one JSON object for each request: its keys are exactly
// id, action and payload, each once. Actions that begin with "mcp." are refused
// here, before the dispatcher: see [dispatch.Internal]. Each request has one reply,
// with its id and action. After state.watch a client gets events; one that does not
// read what it gets is dropped, and no other waits for it.
package gateway
