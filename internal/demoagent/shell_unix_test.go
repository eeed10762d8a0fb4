//go:build unix

package demoagent

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A command that runs is killed together with what it started: then nobody holds
// the other end of the pipe any more.
func TestCancelKillsTheCommand(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	held, err := os.OpenFile(pipe, os.O_RDWR, 0) // so that opening one end does not wait for the other
	require.NoError(t, err)
	reading, err := os.Open(pipe)
	require.NoError(t, err)
	defer reading.Close()

	c := start(t, Options{ShellCommand: "exec 3>" + pipe + "; echo started >&3; sleep 600 & wait"})
	c.open()
	id := c.request("session/prompt", promptParams(c.session, "shell"))
	for f := c.next(); f.Offer == nil; f = c.next() {
		continue
	}
	c.sendf(`{"jsonrpc":"2.0","id":0,%s}`, selects("allow-once"))
	begun := make([]byte, len("started\n"))
	_, err = io.ReadFull(reading, begun)
	require.NoError(t, err)
	require.NoError(t, held.Close())

	c.sendf(cancelSession, c.session)
	got := c.play(id, always(""))
	assert.Equal(t, "cancelled", got.stop)
	assert.Equal(t, []string{"failed"}, got.ends)
	assert.Contains(t, got.said, "cancelled while it ran")
	rest, err := io.ReadAll(reading)
	assert.NoError(t, err)
	assert.Empty(t, rest)
}
