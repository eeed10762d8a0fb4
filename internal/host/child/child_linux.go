package child

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// DieWithUs lets the kernel kill the process when we are gone without having been
// able to end it: after SIGKILL, or when memory runs out. It reaches that process
// alone and not what it has started, which sees its end at best; and not a program
// that changes its user when it starts.
func DieWithUs(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// TryWrite writes what the process takes without being waited for, and says how much
// that was: none after an error, which the next write to Stdin has, too.
func (p *Child) TryWrite(b []byte) (n int) {
	c, err := p.Stdin.SyscallConn()
	if err != nil {
		return 0
	}
	_ = c.Control(func(fd uintptr) {
		n, err = unix.SendmsgN(int(fd), b, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	})
	if err != nil {
		return 0
	}
	return n
}
