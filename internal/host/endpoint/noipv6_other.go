//go:build !windows

package endpoint

import (
	"errors"
	"syscall"
)

// isNoSuchAddress says whether binding failed because the machine has no such
// address or no such address family.
func isNoSuchAddress(err error) bool {
	return errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) || errors.Is(err, syscall.EPROTONOSUPPORT)
}
