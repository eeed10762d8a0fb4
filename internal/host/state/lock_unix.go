//go:build unix && !aix && !solaris

package state

import (
	"errors"
	"os"
	"syscall"
)

// lockedBytes at the beginning of the file can't be read while it is locked.
const lockedBytes = 0

// lockFile does not wait: errLocked means that another process has the lock.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
