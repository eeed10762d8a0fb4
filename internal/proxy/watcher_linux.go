package proxy

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const canWatch = true

// WatchPipe is where the watcher is told, for the command that runs [Watch]. It
// ignores all signals from then on.
func WatchPipe() *os.File {
	signal.Ignore()
	return os.NewFile(3, "watched")
}

// inItsOwnSession keeps signals for our group from the watcher.
func inItsOwnSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// process is one process of the system, as /proc shows it.
type process struct {
	pid  int
	stat []string // from the state on (proc_pid_stat(5), field 3)
}

// Fields of stat behind the name, which can hold anything.
const (
	statState   = 0
	statSession = 3
	statStarted = 19
)

// marked says whether a process began with the mark in its environment.
func (p process) marked(mark string) bool {
	environment, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/environ")
	if err != nil || mark == "" {
		return false
	}
	want := []byte(markVariable + "=" + mark)
	for v := range bytes.SplitSeq(environment, []byte{0}) {
		if bytes.Equal(v, want) {
			return true
		}
	}
	return false
}

// ofSession says whether a process belongs to the session that an agent leads, or
// led: its number is not given to another process while one of them lives.
func (p process) ofSession(leader, start string) bool {
	if leader == "" || p.stat[statSession] != leader {
		return false
	}
	number, err := strconv.Atoi(leader)
	if err != nil || start == "" {
		return false
	}
	now := started(number)
	return now == "" || now == start
}

// started is when a process was started, in ticks since the machine was; empty for
// one that is not there.
func started(pid int) string {
	if p, ok := readProcess(pid); ok {
		return p.stat[statStarted]
	}
	return ""
}

func readProcess(pid int) (process, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	return process{pid, fields}, len(fields) > statStarted
}

// Bounds of a sweep: a process that is being killed can still start others, and
// the environment of one that is just becoming another program cannot be read.
const (
	maxSweeps   = 200
	emptySweeps = 2 // in a row are the end
	sweepPause  = 5 * time.Millisecond
)

// sweep kills every process that it is told to, and those that they start
// meanwhile.
func sweep(which func(process) bool) {
	empty := 0
	for range maxSweeps {
		if sweepOnce(which) {
			empty = 0
		} else if empty++; empty == emptySweeps {
			return
		}
		time.Sleep(sweepPause)
	}
}

// sweepOnce says whether there was any.
func sweepOnce(which func(process) bool) (found bool) {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, entry := range entries {
		pid, err := strconv.Atoi(filepath.Base(entry))
		if err != nil || pid == os.Getpid() {
			continue
		}
		p, ok := readProcess(pid)
		if !ok || p.stat[statState] == "Z" || !which(p) {
			continue
		}
		found = true
		_ = syscall.Kill(pid, syscall.SIGKILL) // one that is gone is no matter
	}
	return found
}
