// Package endpoint is the MCP server that the host injects into its agents.
//
// One [Endpoint] belongs to one agent instance. It serves MCP over streamable
// HTTP at /mcp and over SSE at /sse, on one port of both loopbacks, because
// "localhost" may mean either of them to an agent. It lives until [Endpoint.Close],
// and its port is not used for another endpoint of the same run: an agent that
// was told a port must never find somebody else's server there.
//
// Every process and every web page on the machine can reach a loopback port. So
// a request needs a loopback Host with the endpoint's port, no Origin or one of
// the endpoint's own, and the bearer secret of a [Session]. The secret also says
// whose request it is: each session has an MCP server of its own, so that
// nothing begun with one secret can be continued with another.
//
// It offers tools of the host, or stands in front of an MCP server of the user, an
// [Upstream]: then it hands on what that one offers, and each MCP session of an
// agent has a session of its own there.
//
// Requests are served without MCP sessions (stateless in the words of the MCP
// SDK): newer clients never send initialize, they begin with server/discover or
// tools/list; older ones get their handshake all the same. With an upstream an
// agent that does begin with initialize gets an MCP session, because the target may
// have something to tell or to ask it.
package endpoint
