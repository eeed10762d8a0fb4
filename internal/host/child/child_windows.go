package child

import (
	"os"
	"os/exec"
	"syscall"
)

// stream is a pipe: there are no socket pairs here.
func stream(d direction, _ bool) (ours, theirs *os.File, err error) {
	reader, writer, err := os.Pipe()
	if d == toChild {
		return writer, reader, err
	}
	return reader, writer, err
}

// hangUp closes a pipe.
func hangUp(f *os.File) { _ = f.Close() }

// ownGroup keeps Ctrl-C in the terminal from reaching the process.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

type groupSignal bool

const (
	terminateGroup groupSignal = false
	killGroup      groupSignal = true
)

// signalGroup kills the process; it can not be asked to end here.
func (p *Child) signalGroup(s groupSignal) {
	if s == killGroup {
		_ = p.cmd.Process.Kill()
	}
}

// Signal ends the process: there are no signals to pass on here.
func (p *Child) Signal(os.Signal) { p.Kill() }
