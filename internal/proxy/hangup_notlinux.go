//go:build unix && !linux

package proxy

// hangUpEvent: there is no event of its own here for a socket of which only one
// direction was closed.
const hangUpEvent = 0
