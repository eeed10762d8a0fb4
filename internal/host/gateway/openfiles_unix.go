//go:build unix

package gateway

import "syscall"

// openFiles is how many files the process may have open at once; false: nobody says.
func openFiles() (files uint64, limited bool) {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0, false
	}
	return uint64(limit.Cur), true
}
