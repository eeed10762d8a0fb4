package proxy

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// markVariable is in the environment of the agent and so of everything that it
// starts: by it they are found when they have left its process group, as the
// shells of some agents do.
const markVariable = "ASSENT_INSTANCE"

// watcher is a process that outlives us when we are killed, and then kills the
// agent with everything it has started. We keep one end of a pipe; when we are
// gone it ends. On systems without it there is none, and an agent whose proxy was
// killed sees the end of its input.
type watcher struct {
	value string // of the mark
	log   *slog.Logger
	cmd   *exec.Cmd // nil: there is none
	pipe  *os.File
}

// Words that the watcher is told, one a line: first the mark, then who is to be
// watched, and at the end that nothing is left to do.
const (
	wordAgent = "agent "
	wordDone  = "done"
)

// startWatcher starts the given command line as the watcher; nil for none.
func startWatcher(command []string, log *slog.Logger) (*watcher, error) {
	random := make([]byte, 16)
	_, _ = rand.Read(random) // never fails (crypto/rand)
	w := &watcher{value: hex.EncodeToString(random), log: log}
	if command == nil || !canWatch {
		return w, nil
	}
	r, pipe, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	w.cmd, w.pipe = exec.Command(command[0], command[1:]...), pipe
	w.cmd.ExtraFiles = []*os.File{r}
	inItsOwnSession(w.cmd)
	if err := w.cmd.Start(); err != nil {
		_ = pipe.Close()
		return nil, err
	}
	w.tell(w.value)
	return w, nil
}

// mark is the variable for the agent's environment.
func (w *watcher) mark() []string {
	return []string{markVariable + "=" + w.value}
}

// watch says who the agent is.
func (w *watcher) watch(pid int) { w.tell(wordAgent + strconv.Itoa(pid) + " " + started(pid)) }

func (w *watcher) tell(word string) {
	if w.cmd == nil {
		return
	}
	if _, err := io.WriteString(w.pipe, word+"\n"); err != nil {
		w.log.Warn("the watcher has gone: when this process is killed, what the agent started may live on")
	}
}

// sweep kills what the agent left behind.
func (w *watcher) sweep() { sweep(func(p process) bool { return p.marked(w.value) }) }

// watcherPatience is how long the watcher may take to end.
const watcherPatience = 2 * time.Second

// close lets the watcher end.
func (w *watcher) close() {
	if w.cmd == nil {
		return
	}
	w.tell(wordDone)
	_ = w.pipe.Close()
	late := time.AfterFunc(watcherPatience, func() { _ = w.cmd.Process.Kill() })
	defer late.Stop()
	_ = w.cmd.Wait() // how it ended is no matter
}

// Watch is the watcher: it reads what it is told from the pipe and kills when the
// pipe ends without a last word. It takes no notice of signals: who ends a group of
// processes must not end this one before.
func Watch(pipe io.Reader) {
	var mark, pid, start string
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		switch word, agent := strings.CutPrefix(lines.Text(), wordAgent); {
		case agent:
			pid, start, _ = strings.Cut(word, " ")
		case word == wordDone:
			return
		default:
			mark = word
		}
	}
	sweep(func(p process) bool { return p.marked(mark) || p.ofSession(pid, start) })
}
