package serve

import (
	"fmt"
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
// make tokens.
func PrepareData(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the data folder: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("the data folder must be for its owner alone: %w", err)
	}
	return nil
}
