package main

import (
	"io"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/console"
	"github.com/kandev/assent/internal/need"
	"golang.org/x/sys/unix"
)

// openTerminal makes a terminal: what the person has, and what the program has.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	need.Of(t, "terminals", err)
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0))
	program, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = person.Close(), program.Close() })
	resize(t, person, 200)
	return person, program
}

// resize gives a terminal so many columns.
func resize(t *testing.T, person *os.File, columns uint16) {
	t.Helper()
	require.NoError(t, unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: columns}))
}

// atTerminal starts the program at a terminal and gives the person's side.
func atTerminal(t *testing.T, args ...string) (*program, *output, func(string)) {
	t.Helper()
	person, tty := openTerminal(t)
	return atThis(t, person, tty, args...)
}

// atThis is atTerminal at a terminal that is there.
func atThis(t *testing.T, person, tty *os.File, args ...string) (*program, *output, func(string)) {
	t.Helper()
	p := command(t, args...)
	p.cmd.Stdin, p.cmd.Stdout = tty, tty
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p.start()
	require.NoError(t, tty.Close())
	seen := newOutput()
	p.shown = make(chan struct{})
	go func() { defer close(p.shown); _, _ = io.Copy(seen, person) }()
	return p, seen, func(text string) {
		_, err := io.WriteString(person, text)
		require.NoError(t, err)
	}
}

func TestAPersonAtTheTerminal(t *testing.T) {
	p, seen, say := atTerminal(t, "run", "--demo")
	seen.until(t, "type what the agent is to do; Ctrl-D ends")
	say("shell\n")
	seen.until(t, "answer: 1 <option>   everything: 1 ?   why you are asked: 1 why")
	for line, answer := range map[string]string{
		"yes\n":   "not understood: answer with the question's number and the option's, as in: 1 1",
		"9 1\n":   "question 9 is not open; open: 1",
		"1 4\n":   "question 1 has the options 1 to 3; 1 ? shows everything",
		"1 why\n": "identity     continue  name_without_mcp_prefix",
		"1 ?\n":   `| {"command":"echo hello from the demo agent","description":"a harmless command of the demo agent"}`,
	} {
		say(line)
		seen.until(t, answer)
	}
	say("1 1\n")
	seen.until(t, "answer    #1  option 1  allow_once  ‹Yes›")
	seen.until(t, "Ran: the shell command.")
	seen.until(t, "turn      over: end_turn")
	say("plan\n")
	seen.until(t, "Ran: create_task_kandev of kandev, list_tasks_kandev of kandev.")
	say("\x04") // Ctrl-D
	assert.Zero(t, p.wait())
	assert.Empty(t, p.stderr.String())
}

func TestCtrlCAtTheTerminal(t *testing.T) {
	p, seen, say := atTerminal(t, "run", "--demo")
	seen.until(t, "Ctrl-D ends")
	say("shell\n")
	seen.until(t, "answer: 1 <option>")
	say("\x03")
	seen.until(t, "answer    #1  cancelled with its session")
	seen.until(t, "turn      over: cancelled")
	say("shell\n") // the session goes on
	seen.until(t, "answer: 2 <option>")
	say("2 3\n")
	seen.until(t, "Did not run: the shell command (rejected).")
	seen.until(t, "turn      over: end_turn")
	say("\x03")
	p.stderr.until(t, "assent: run: Ctrl-C again stops the agent")
	say("\x03")
	assert.Equal(t, console.ExitInterrupted, p.wait())
}

func TestThePersonLeaves(t *testing.T) {
	p, seen, say := atTerminal(t, "run", "--demo", "--prompt", "shell")
	seen.until(t, "answer: 1 <option>")
	say("\x04")
	seen.until(t, "answer    #1  cancelled")
	assert.Zero(t, p.wait())
}
