// Package pending holds the permission requests that wait for a person, across
// all agent instances of a host.
//
// An [Offer] that was registered is answered exactly once. Whoever comes first
// wins: a person ([Store.Resolve]), the client that cancels the session
// ([Store.CancelSession]), the agent that withdraws its request
// ([Store.Withdraw]), the end of the agent ([Store.DropInstance]), the clock
// (an [Expiry], or no surface that could have shown the offer), or the end of the
// host ([Store.Close]). The winner calls the offer's Deliver, once, outside any
// lock. Everybody else gets an [Error] that says why they came too late.
//
// An answer reaches an offer by its whole [Key]: instance, session and our own
// request id, byte for byte. Request ids are never used again, also not by the
// next run of the host, so yesterday's button answers nothing today. The agent's
// tool call id and its JSON-RPC id identify nothing here.
//
// What everybody may see of an open offer is its [Snapshot]: the action, as far
// as it is known, with credentials masked, and the options. It is built once, at
// registration. [Store.Detail] shows a person who is at the machine the arguments
// or the diff; nothing of it is cached, and none of it may be logged.
//
// The careful outcome is always "cancelled". Nothing in this package chooses an
// allow that a person did not choose.
package pending
