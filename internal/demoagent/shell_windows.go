package demoagent

import (
	"context"
	"os/exec"
	"syscall"
)

// shellCommand hands the command to cmd as it is: cmd has quoting rules of its own.
func shellCommand(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cmd")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: "cmd /C " + command}
	return cmd
}
