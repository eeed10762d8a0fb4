package proxy

import "golang.org/x/sys/unix"

// hangUpEvent is also told of a socket of which only one direction was closed.
const hangUpEvent = unix.POLLRDHUP
