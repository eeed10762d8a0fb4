package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/kandev/assent/internal/host/audit"
)

// DefaultData is the data folder of somebody who names none.
func DefaultData(name string) (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, name), nil
	}
	if runtime.GOOS == "linux" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no data folder: %w: name one with --data", err)
		}
		return filepath.Join(home, ".local", "state", name), nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("no data folder: %w: name one with --data", err)
	}
	return filepath.Join(dir, name), nil
}

// PrepareData makes the data folder, for its owner alone: whoever may enter it may
// make tokens. A folder with something of somebody else in it is left as it is.
func PrepareData(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return dataError(dir, err)
	}
	_, foreign, err := lookAtData(dir)
	if err != nil {
		return dataError(dir, err)
	}
	if foreign {
		return fmt.Errorf("the data folder %q is not empty and no server was ever started with it: name one of its own with --data; it is made when it is missing", dir)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return dataError(dir, err)
	}
	return nil
}

// usedData says with an error that no server was ever started with a data folder.
func usedData(dir string) error {
	used, _, err := lookAtData(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return dataError(dir, err)
	}
	if !used {
		return fmt.Errorf("no server was ever started with the data folder %q: name that of yours with --data or --config (--demo for that of assent serve --demo), or start it first", dir)
	}
	return nil
}

// lookAtData says whether a server has used a folder before, and whether without that
// something else is in it. A name alone says nothing: others lock and log, too.
func lookAtData(dir string) (used, foreign bool, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		foreign = foreign || !oursAlone(dir, e)
	}
	used = holdsStore(dir) || holdsAudit(dir)
	return used, foreign && !used, err
}

// oursAlone says whether a server that was cut off at its first start can have left
// something behind, or a file system keeps it at its top.
func oursAlone(dir string, e fs.DirEntry) bool {
	switch e.Name() {
	case lockName:
		return e.Type().IsRegular()
	case controlName:
		return e.Type()&fs.ModeSocket != 0
	case auditName:
		info, err := e.Info()
		return err == nil && info.Mode().IsRegular() && info.Size() == 0
	case stateName: // made a moment before its lock
		below, err := os.ReadDir(filepath.Join(dir, stateName))
		return err == nil && (len(below) == 0 || isFolder(filepath.Join(dir, stateName, storeName)))
	}
	return e.Name() == "lost+found"
}

// holdsStore says whether the embedded server has kept something there.
func holdsStore(dir string) bool {
	lock, err := os.Lstat(filepath.Join(dir, lockName))
	return err == nil && lock.Mode().IsRegular() && isFolder(filepath.Join(dir, stateName, storeName))
}

// errSeen ends the reading of an audit.
var errSeen = errors.New("seen")

// holdsAudit says whether the first whole line of an audit there is a record.
func holdsAudit(dir string) (holds bool) {
	if info, err := os.Stat(AuditFile(dir)); err != nil || !info.Mode().IsRegular() { // a pipe would be waited for
		return false
	}
	_ = audit.Read(AuditFile(dir), func(l audit.Line) error { // what cannot be read says nothing
		if errors.Is(l.Err, audit.ErrCut) {
			return nil
		}
		holds = l.Err == nil
		return errSeen
	})
	return holds
}

// dataError is an error of the data folder with the way out.
func dataError(dir string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("the data folder %q, or one around it, belongs to another user: run as that user, or name another one with --data (%w)", dir, err)
	}
	return fmt.Errorf("the data folder %q cannot be used: %w (name another one with --data)", dir, err)
}

// What is in a data folder, besides the control socket.
const (
	auditName = "audit.jsonl"
	lockName  = "state.lock"
	stateName = "state"
	storeName = "jetstream" // in the state
)

// AuditFile is where the audit of a data folder is.
func AuditFile(data string) string { return filepath.Join(data, auditName) }
