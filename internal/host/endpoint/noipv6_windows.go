package endpoint

import (
	"errors"
	"syscall"
)

// Windows Sockets error codes.
const (
	wsaEAFNOSUPPORT  = syscall.Errno(10047)
	wsaEADDRNOTAVAIL = syscall.Errno(10049)
)

// isNoSuchAddress says whether binding failed because the machine has no such
// address or no such address family.
func isNoSuchAddress(err error) bool {
	return errors.Is(err, wsaEADDRNOTAVAIL) || errors.Is(err, wsaEAFNOSUPPORT)
}
