package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
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
// something else is in it. What a file system keeps at its top is nothing.
func lookAtData(dir string) (used, foreign bool, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		switch e.Name() {
		case "state.lock", controlName, auditName:
			used = true
		case "state", "lost+found": // the first is made a moment before its lock
		default:
			foreign = true
		}
	}
	return used, foreign && !used, err
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

// auditName is the file of the audit in the data folder.
const auditName = "audit.jsonl"

// AuditFile is where the audit of a data folder is.
func AuditFile(data string) string { return filepath.Join(data, auditName) }
