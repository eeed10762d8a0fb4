//go:build !linux && !darwin

package console

import "os"

// discardTyped can do nothing here: what was typed before a question was drawn is
// told by the time at which it was read.
func discardTyped(*os.File) {}
