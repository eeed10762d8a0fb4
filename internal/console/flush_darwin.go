package console

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardTyped discards what was typed at a terminal and not read yet.
func discardTyped(in *os.File) {
	const read = 1 // FREAD of <sys/fcntl.h>
	_ = unix.IoctlSetPointerInt(int(in.Fd()), unix.TIOCFLUSH, read)
}
