//go:build unix

package proxy

import (
	"os"

	"golang.org/x/sys/unix"
)

// hungUp says whether the other side of a pipe or socket has been closed, also while
// what it wrote was not read.
func hungUp(f *os.File) (gone bool) {
	c, err := f.SyscallConn()
	if err != nil {
		return false
	}
	_ = c.Control(func(fd uintptr) {
		polled := []unix.PollFd{{Fd: int32(fd), Events: hangUpEvent}}
		n, err := unix.Poll(polled, 0)
		gone = err == nil && n > 0 && polled[0].Revents&(unix.POLLHUP|hangUpEvent) != 0
	})
	return gone
}
