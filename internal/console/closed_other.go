//go:build !cgo || !unix

package console

// stdoutClosed cannot be known here: a program without C begins in Go's runtime,
// which has put /dev/null in the place of a closed stdout.
func stdoutClosed() bool { return false }
