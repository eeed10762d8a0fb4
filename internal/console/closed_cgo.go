//go:build cgo && unix

package console

/*
#include <errno.h>
#include <fcntl.h>

static int closed;

// The loader calls it before Go's runtime begins, which opens /dev/null in the
// place of a standard stream that is closed.
__attribute__((constructor)) static void look(void) {
	closed = fcntl(1, F_GETFD) == -1 && errno == EBADF;
}

static int stdout_was_closed(void) { return closed; }
*/
import "C"

// stdoutClosed says whether the program was started without a stdout. Nothing else
// tells: what the runtime opened looks like what a parent opens that wants to
// hear nothing.
func stdoutClosed() bool { return C.stdout_was_closed() != 0 }
