package state

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// errLocked says that another process holds the lock.
var errLocked = errors.New("locked")

// lock makes sure that one process alone uses a data folder. The system takes the
// lock back when the process ends in any way, so the file may stay.
func lock(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("state: the lock of the data folder: %w", err)
	}
	err = lockFile(f)
	if errors.Is(err, errLocked) {
		err = fmt.Errorf("state: the data folder %q is in use by another process%s: stop that one, or choose another folder with --data", filepath.Dir(path), holder(f))
	} else if err == nil {
		err = errors.Join(f.Truncate(0), writeHolder(f))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

func writeHolder(f *os.File) error {
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), lockedBytes)
	return err
}

// holder names the process that holds the lock, if it is written there.
func holder(f *os.File) string {
	text, err := io.ReadAll(io.NewSectionReader(f, lockedBytes, 32))
	pid, convErr := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || convErr != nil {
		return ""
	}
	return fmt.Sprintf(" (%d)", pid)
}
