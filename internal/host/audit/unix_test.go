//go:build unix

package audit

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/testlog"
)

func init() {
	childRoles["kill"] = appendForEver
	childRoles["limit"] = appendBeyondALimit
}

// startChild starts this test program in a part.
func startChild(t *testing.T, role, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"="+role+" "+path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	return cmd, bufio.NewScanner(out)
}

// modeOf is the mode of a file, below its type.
func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Mode().Perm()
}

// withUmask runs a test under a umask. It belongs to the process, so tests of
// this package do not run in parallel.
func withUmask(t *testing.T, mask int) {
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}

func TestMode(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o077, 0o377, 0o777} {
		t.Run(fmt.Sprintf("umask %03o", mask), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			withUmask(t, mask)
			l, _ := openTest(t, path, Options{MaxBytes: 1})
			l.Append(numberedRecord(0))
			l.Append(numberedRecord(1))
			closeLog(t, l)
			assert.EqualValues(t, 0o600, modeOf(t, path))
			assert.EqualValues(t, 0o600, modeOf(t, numbered(path, 1)))
		})
	}
}

func TestModeOfAFileThatWasThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	require.NoError(t, os.Chmod(path, 0o644))
	l, _ := openTest(t, path, Options{})
	closeLog(t, l)
	assert.EqualValues(t, 0o600, modeOf(t, path))
}

// A pipe without a reader would stop the host.
func TestOpenRefusesAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	_, err := Open(path, Options{})
	assert.ErrorContains(t, err, "is no regular file")
}

// appendForEver appends until it is killed, and prints how far it got.
func appendForEver(path string) {
	l, err := Open(path, Options{MaxBytes: 300_000, Keep: -1, Queue: 1 << 20})
	if err != nil {
		panic(err)
	}
	for n := 0; ; n++ {
		l.Append(numberedRecord(n))
		if n%100 == 0 {
			fmt.Println(l.Stats().Written)
		}
	}
}

// Killed at any moment: every line is a record but possibly the last one, none is
// missing, and what was reported as written is there.
func TestKilledWhileWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	next := 0
	for round := range 4 {
		child, out := startChild(t, "kill", path)
		written := 0
		for written < 500*(round+1) && out.Scan() {
			written, _ = strconv.Atoi(out.Text())
		}
		require.NoError(t, child.Process.Kill())
		_ = child.Wait()
		runs := map[string][]string{}
		cuts := 0
		require.NoError(t, Read(path, func(l Line) error {
			switch {
			case l.Err != nil:
				assert.Equal(t, ErrCut, l.Err, "%s:%d: %s", l.File, l.Number, l.Text)
				cuts++
			case l.Record.Event != Gap:
				runs[l.Record.Run] = append(runs[l.Record.Run], l.Record.Request)
			}
			return nil
		}))
		require.Len(t, runs, round+1)
		assert.LessOrEqual(t, cuts, round+1)
		for run, got := range runs {
			assert.Equal(t, numbers(0, len(got)), got, "run %s", run)
		}
		next += written
		total := 0
		for _, got := range runs {
			total += len(got)
		}
		assert.GreaterOrEqual(t, total, next)
	}
}

// appendBeyondALimit fills a file up to a limit of the system, which then fails
// every write as a full disk does, and goes on when the limit is gone.
func appendBeyondALimit(path string) {
	signal.Ignore(syscall.SIGXFSZ)
	setLimit := func(n uint64) {
		var limit syscall.Rlimit
		must(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
		limit.Cur = min(n, limit.Max)
		must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	}
	setLimit(10_000)
	out := &testlog.Buffer{}
	l, err := Open(path, Options{Queue: 100, Logger: out.Logger()})
	must(err)
	n := 0
	for out.Count("cannot be written") == 0 {
		if l.Stats().Waiting < 50 {
			l.Append(numberedRecord(n))
			n++
		}
		runtime.Gosched()
	}
	for l.Stats().Dropped < 50 {
		l.Append(numberedRecord(n))
		n++
	}
	setLimit(1 << 40)
	fmt.Println(n, out.Count("cannot be written"))
	must(l.Close(context.Background()))
	fmt.Println(l.Stats().Written, l.Stats().Dropped)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// A disk that is really full, with a line that fits only in part.
func TestRealFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	child, out := startChild(t, "limit", path)
	var appended, reports, written, dropped int
	require.True(t, out.Scan())
	_, err := fmt.Sscan(out.Text(), &appended, &reports)
	require.NoError(t, err)
	require.True(t, out.Scan())
	_, err = fmt.Sscan(out.Text(), &written, &dropped)
	require.NoError(t, err)
	require.NoError(t, child.Wait())
	assert.Equal(t, 1, reports, "said once")
	assert.NotZero(t, dropped)
	var records []Record
	cuts := 0
	require.NoError(t, Read(path, func(l Line) error {
		if l.Err != nil {
			assert.Equal(t, ErrCut, l.Err)
			cuts++
			return nil
		}
		records = append(records, l.Record)
		return nil
	}))
	assert.Equal(t, 1, cuts, "the part that had room")
	assert.Len(t, records, written)
	assert.Equal(t, numbers(0, appended-dropped), requests(records))
	gap := gaps(records)
	require.Len(t, gap, 2)
	assert.Equal(t, "write_failed", string(gap[0].Reason))
	assert.Equal(t, "queue_full", string(gap[1].Reason))
	assert.EqualValues(t, dropped, gap[1].Dropped)
}
