// Package proxy puts the pipeline between an ACP client and its agent, as
// `assent proxy` does.
//
// What one side writes the other one gets, byte for byte and in its order, but for
// this closed list:
//
//   - session/new, load, resume and fork get the entries of the injected servers
//     in their mcpServers; an entry of the client with such a name gives way;
//   - an offer (session/request_permission) that the pipeline selects, or that has
//     no options, is answered here and never reaches the client;
//   - a JSON-RPC batch is refused;
//   - what the agent prints that is no message goes to stderr;
//   - session/cancel of the client answers the open offers of its session
//     "cancelled" at once; the client's own late answer is dropped, and a new offer
//     with an id whose answer is owed, or open, is answered "cancelled": nobody
//     could tell for which of the two an answer is meant. So is an answer of the
//     client to an offer that is not open;
//   - requests of our own, which some agents need to be told to ask (see Launch in
//     package agents), have ids of our own, and their answers are dropped;
//   - a line beyond the cap is not relayed.
//
// Everything else is a person's to decide, in the client. Nothing is queued: who
// does not read is waited for, and so is who writes to it.
package proxy
