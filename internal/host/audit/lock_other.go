//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package audit

// lock does nothing where the system has no such lock: there only one process may
// write to a file.
func lock(string) (unlock func(), err error) { return func() {}, nil }
