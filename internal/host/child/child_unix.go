//go:build unix

package child

import (
	"context"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// stream is one connection between us and the process, in the given direction.
// A socket pair would carry both; only one is used. Our end has deadlines, unless it
// is to block.
func stream(_ direction, blocking bool) (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock() // no other process may inherit our end
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	if err := unix.SetNonblock(fds[0], !blocking); err != nil { // for deadlines
		_, _ = unix.Close(fds[0]), unix.Close(fds[1])
		return nil, nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fds[0]), "agent"), os.NewFile(uintptr(fds[1]), "agent"), nil
}

// hangUp ends both directions of a connection.
func hangUp(f *os.File) {
	if c, err := f.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) }) // one that is closed is no matter
	}
}

// ownGroup puts the process into a session and a group of its own: a signal then
// reaches what it started, Ctrl-C in the terminal does not reach it behind our
// back, and it has no controlling terminal. With ours it could draw over the
// questions, and on systems with TIOCSTI type the answers.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

const (
	terminateGroup = syscall.SIGTERM
	killGroup      = syscall.SIGKILL
)

// signalGroup signals the process and everything in its group. That there is
// nobody left is no error.
func (p *Child) signalGroup(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }

// Signal passes a signal on to the process and everything in its group.
func (p *Child) Signal(s os.Signal) {
	if number, ok := s.(syscall.Signal); ok && !p.gone(context.Background(), 0) {
		p.signalGroup(number)
	}
}
