package console

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// piped is a Stderr and the end from which it is read.
func piped(t *testing.T) (*Stderr, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return NewStderr(w), r
}

func line1000(n int) string { return fmt.Sprintf("%999d\n", n) }

// What a reader that comes late does not get is said once, behind what it gets.
func TestWhatWasDroppedIsSaidOnce(t *testing.T) {
	s, r := piped(t)
	const lines = 2000 // a thousand bytes each, which is more than pipe and queue hold
	for n := range lines {
		_, err := io.WriteString(s, line1000(n))
		require.NoError(t, err)
	}
	text := make(chan string)
	go func() { all, _ := io.ReadAll(r); text <- string(all) }()
	assert.Zero(t, s.Flush(), "all of it was said")
	_, _ = io.WriteString(s, "more\n")
	s.Close()
	require.NoError(t, s.File().Close())
	got := strings.SplitAfter(<-text, "\n")
	kept, last := got[:len(got)-3], -1
	require.Greater(t, len(kept), maxQueued/1000)
	for _, line := range kept { // in their order; one that came while the pipe took some may be among the last
		n, err := strconv.Atoi(strings.TrimSpace(line))
		require.NoError(t, err)
		require.Greater(t, n, last)
		require.Equal(t, line1000(n), line)
		last = n
	}
	said := fmt.Sprintf("assent: stderr: %d lines were dropped, nobody read them in time\n", lines-len(kept))
	assert.Equal(t, []string{said, "more\n", ""}, got[len(kept):])
}

// Who reads gets everything, however much it is.
func TestNothingIsDroppedForAReader(t *testing.T) {
	s, r := piped(t)
	text := make(chan string)
	go func() { all, _ := io.ReadAll(r); text <- string(all) }()
	want := ""
	for n := range 1000 {
		_, err := io.WriteString(s, line1000(n))
		require.NoError(t, err)
		want += line1000(n)
		if n%100 == 0 {
			require.Zero(t, s.Flush())
		}
	}
	s.Close()
	require.NoError(t, s.File().Close())
	assert.Equal(t, want, <-text)
}

func TestAReaderThatHasGone(t *testing.T) {
	s, r := piped(t)
	require.NoError(t, r.Close())
	for range 3 {
		n, err := io.WriteString(s, "a line\n")
		require.NoError(t, err)
		require.Equal(t, 7, n)
	}
	assert.Equal(t, 3, s.Flush())
}
