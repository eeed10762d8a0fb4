//go:build unix

package proxy

import (
	"os"
	"syscall"
)

const killSignal = int(syscall.SIGKILL)

// Signals are those that are passed on to the agent.
func Signals() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}
}

// ends says whether a signal tells a process to end.
func ends(s os.Signal) bool { return s != syscall.SIGUSR1 && s != syscall.SIGUSR2 }

// deathSignal is the signal that ended a process; 0 for none.
func deathSignal(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return int(status.Signal())
	}
	return 0
}
