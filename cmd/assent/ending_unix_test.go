//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/console"
	"golang.org/x/sys/unix"
)

// lifeline is a pipe that ends when everybody who was given its name has gone.
func lifeline(t *testing.T) (path string, wait func(word string)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "lifeline")
	require.NoError(t, unix.Mkfifo(path, 0o600))
	lines := make(chan string, 4)
	go func() {
		defer close(lines)
		f, err := os.Open(path) // waits for a writer
		if err != nil {
			return
		}
		defer func() { _ = f.Close() }()
		for s := bufio.NewScanner(f); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return path, func(word string) {
		for line := range lines {
			if line == word {
				return
			}
		}
		assert.Empty(t, word, "they have gone")
	}
}

// endings of a program by its signals, and by what became of its output.
func TestWhateverEndsTheProgramEndsTheAgentAndItsChildren(t *testing.T) {
	for name, test := range map[string]struct {
		signals []os.Signal
		stdout  func(*testing.T) *os.File // nil: it is read
		unheard bool                      // nobody reads stderr, into which nothing fits any more
		code    int
		stderr  string
	}{
		"SIGTERM":             {signals: []os.Signal{syscall.SIGTERM}, code: console.ExitInterrupted},
		"SIGHUP":              {signals: []os.Signal{syscall.SIGHUP}, code: console.ExitInterrupted},
		"SIGQUIT":             {signals: []os.Signal{syscall.SIGQUIT}, code: console.ExitInterrupted},
		"two SIGINTs":         {signals: []os.Signal{os.Interrupt, os.Interrupt}, code: console.ExitInterrupted, stderr: "*"},
		"nobody reads":        {signals: []os.Signal{syscall.SIGTERM}, stdout: unread, code: console.ExitInterrupted},
		"nor SIGINTs":         {signals: []os.Signal{os.Interrupt, os.Interrupt}, stdout: unread, code: console.ExitInterrupted, stderr: "*"},
		"from the start":      {signals: []os.Signal{syscall.SIGTERM}, stdout: full, code: console.ExitInterrupted},
		"nor stderr":          {signals: []os.Signal{syscall.SIGTERM}, unheard: true, code: console.ExitInterrupted},
		"nor any of it":       {signals: []os.Signal{syscall.SIGTERM}, stdout: unread, unheard: true, code: console.ExitInterrupted},
		"the reader has gone": {stdout: closed, code: console.ExitFailed, stderr: "assent: run: the output cannot be written: broken pipe\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, wait := lifeline(t)
			p := command(t, append(append([]string{"run", "--agent", "claude-acp", "--prompt", "go"}, agent(t, "family")...), path)...)
			if test.stdout != nil {
				p.cmd.Stdout = test.stdout(t)
			}
			if test.unheard {
				p.cmd.Args = append(p.cmd.Args[:2], append([]string{"--log-level", "debug"}, p.cmd.Args[2:]...)...)
				p.cmd.Stderr = full(t)
			}
			p.start()
			wait("alive")
			if name != "from the start" {
				wait("asked")
			}
			for n, s := range test.signals {
				if n > 0 { // two that are not taken one by one are one
					p.stderr.until(t, "cancelling")
				}
				require.NoError(t, p.cmd.Process.Signal(s))
			}
			assert.Equal(t, test.code, p.wait())
			wait("")
			if test.stderr != "*" {
				assert.Equal(t, test.stderr, p.stderr.String())
			}
			if test.stdout == nil {
				assert.Contains(t, p.stdout.String(), "summary   nothing was decided\n", "who reads gets all of it")
			}
		})
	}
}

// Nobody reads the log: everything is decided and shown all the same, and in the
// end it is said that lines are missing.
func TestAnUnreadLogStopsNothing(t *testing.T) {
	p := command(t, "run", "--demo", "--on-pending", "allow", "--log-level", "debug")
	p.cmd.Stderr = full(t)
	assert.Zero(t, p.start().wait())
	assert.Contains(t, p.stdout.String(), "Ran: create_task_kandev of kandev, read_notes of other, the shell command.")
	assert.Regexp(t, `\nnote      \d+ lines on stderr were dropped: nobody reads it\n$`, p.stdout.String())

	code, stdout, stderr := runIt(t, "run", "--demo", "--on-pending", "allow", "--log-level", "debug") // the twin
	assert.Zero(t, code)
	assert.NotContains(t, stdout, "dropped")
	assert.Contains(t, stderr, "msg=decision")
}

func TestAnUnreadErrorIsNoReasonToStay(t *testing.T) {
	p := command(t, "replay", "/assent/no/such/file")
	p.cmd.Stderr = full(t)
	assert.Equal(t, console.ExitUsage, p.start().wait())
}

// unread is a pipe that nobody reads.
func unread(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return w
}

// full is one that nothing fits into.
func full(t *testing.T) *os.File {
	t.Helper()
	w := unread(t)
	fd := int(w.Fd())
	require.NoError(t, unix.SetNonblock(fd, true))
	for err := error(nil); err == nil; {
		_, err = unix.Write(fd, make([]byte, 1))
	}
	require.NoError(t, unix.SetNonblock(fd, false))
	return w
}

// closed is one whose reader has gone.
func closed(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	go func() {
		_, _ = io.ReadFull(r, make([]byte, 100))
		_ = r.Close()
	}()
	return w
}
