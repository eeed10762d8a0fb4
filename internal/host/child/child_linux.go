package child

import (
	"os/exec"
	"syscall"
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
