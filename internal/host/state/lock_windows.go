package state

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockedBytes at the beginning of the file can't be read while it is locked.
const lockedBytes = 1

// lockFile does not wait: errLocked means that another process has the lock.
func lockFile(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, lockedBytes, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return err
}
