// Package acp is the edge between raw Agent Client Protocol lines and the
// pipeline: JSON-RPC 2.0 messages, one per line, protocol versions 1 and 2.
//
// A host or proxy owns one [Decoder] per agent connection. It gives every line
// of both directions to it, in order: client lines to [Decoder.FromClient] before
// they are written to the agent, agent lines to [Decoder.FromAgent] as they are
// read. A permission request comes back as an [Offer]; [Offer.Decide] asks the
// pipeline and [Offer.Answer] makes the answer line.
//
// Frames are never rewritten. Ids keep their exact text. Keys are matched
// exactly, with escapes decoded and without case folding. What a peer could read
// in two ways (duplicate keys, invalid UTF-8, lone surrogates) is never decided
// automatically: such an offer is unreadable, such an update makes its tool call
// contradictory, such a session request makes its session untrusted.
package acp
