package audit

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/need"
	"github.com/kandev/assent/internal/testlog"
)

// openTest opens an audit file that is closed with the test.
func openTest(t *testing.T, path string, o Options) (*Log, *testlog.Buffer) {
	t.Helper()
	var out testlog.Buffer
	o.Logger = out.Logger()
	if o.Queue == 0 {
		o.Queue = 100_000
	}
	l, err := Open(path, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	return l, &out
}

func closeLog(t *testing.T, l *Log) {
	t.Helper()
	require.NoError(t, l.Close(t.Context()))
}

// ls lists the names of a folder.
func ls(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestOpenMakesFolderAndAppends(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "audit.jsonl")
	for n := range 3 {
		l, _ := openTest(t, path, Options{})
		l.Append(numberedRecord(n))
		closeLog(t, l)
	}
	records := readAll(t, path)
	assert.Equal(t, numbers(0, 3), requests(records))
	assert.Empty(t, gaps(records))
	assert.NotEqual(t, records[0].Run, records[1].Run)
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(dir, Options{})
	assert.EqualError(t, err, fmt.Sprintf("audit: %q is no regular file", dir))
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = Open(filepath.Join(file, "audit.jsonl"), Options{})
	assert.ErrorContains(t, err, "audit: ")
}

// The next run after a crash begins a new line and says what it found.
func TestOpenAfterACutLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	whole := encode(numberedRecord(0))
	require.NoError(t, os.WriteFile(path, []byte(whole+whole[:70]), 0o600))
	l, _ := openTest(t, path, Options{})
	l.Append(numberedRecord(1))
	closeLog(t, l)
	var seen []string
	require.NoError(t, Read(path, func(l Line) error {
		seen = append(seen, fmt.Sprintf("%d %s %s %v", l.Number, l.Record.Request, l.Record.Reason, l.Err))
		return nil
	}))
	assert.Equal(t, []string{"1 0 injected_mcp <nil>", "2   the line is cut", "3  line_cut <nil>", "4 1 injected_mcp <nil>"}, seen)
}

func TestRotation(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	l, out := openTest(t, path, Options{MaxBytes: 2000, Keep: -1})
	for n := range 100 {
		l.Append(numberedRecord(n))
	}
	closeLog(t, l)
	assert.Equal(t, numbers(0, 100), requests(readAll(t, path)))
	names := ls(t, dir)
	assert.Greater(t, len(names), 10)
	assert.Equal(t, "audit.jsonl", names[0])
	assert.Equal(t, "audit.jsonl.000001", names[1])
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.LessOrEqual(t, info.Size(), int64(2000), name)
	}
	assert.Empty(t, out.String())
}

func TestRotationKeepsSomeFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	l, _ := openTest(t, path, Options{MaxBytes: 1, Keep: 3})
	for n := range 20 {
		l.Append(numberedRecord(n))
	}
	closeLog(t, l)
	assert.Equal(t, []string{"audit.jsonl", "audit.jsonl.000017", "audit.jsonl.000018", "audit.jsonl.000019"}, ls(t, dir))
	assert.Equal(t, numbers(16, 20), requests(readAll(t, path)))
}

// Names beside the file that are not of our making are nobody's business.
func TestRotationLeavesOthersAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	others := []string{"audit.jsonl.1", "audit.jsonl.0000001", "audit.jsonl.-00001", "audit.jsonl.gz", "audit.jsonl.000001.gz", "xaudit.jsonl.000001"}
	for _, name := range others {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	}
	l, _ := openTest(t, path, Options{MaxBytes: 1, Keep: 1})
	for n := range 5 {
		l.Append(numberedRecord(n))
	}
	closeLog(t, l)
	assert.Subset(t, ls(t, dir), others)
	assert.Equal(t, numbers(3, 5), requests(readAll(t, path)))
}

// Several hosts with one file: nothing is lost, torn or written twice, and each
// one's records stay in order.
func TestRotationUnderConcurrency(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	const writers, each = 5, 400
	var all sync.WaitGroup
	for w := range writers {
		l, _ := openTest(t, path, Options{MaxBytes: 5000, Keep: -1})
		all.Go(func() {
			for n := range each {
				r := numberedRecord(n)
				r.Instance = fmt.Sprint(w)
				l.Append(r)
			}
			assert.NoError(t, l.Close(context.Background()))
		})
	}
	all.Wait()
	seen := map[string][]string{}
	for _, r := range readAll(t, path) {
		seen[r.Instance] = append(seen[r.Instance], r.Request)
	}
	assert.Len(t, seen, writers)
	for w, got := range seen {
		assert.ElementsMatch(t, numbers(0, each), got, "writer %s", w)
	}
}

// Somebody else rotates or deletes the file.
func TestFollowsTheName(t *testing.T) {
	for what, change := range map[string]func(path string) error{
		"moved":   func(path string) error { return os.Rename(path, path+".old") },
		"deleted": os.Remove,
	} {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			f, err := openFile(path, Options{}.withDefaults())
			require.NoError(t, err)
			_, err = f.Write([]byte(encode(numberedRecord(0))))
			require.NoError(t, err)
			need.Of(t, "a system that does that to an open file", change(path))
			_, err = f.Write([]byte(encode(numberedRecord(1))))
			require.NoError(t, err)
			require.NoError(t, f.Close())
			assert.Equal(t, numbers(1, 2), requests(readAll(t, path)))
		})
	}
}

// A file that takes the place of ours and is none that can be written.
func TestSomethingElseAtTheName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	f, err := openFile(path, Options{}.withDefaults())
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	_, err = f.Write([]byte(encode(numberedRecord(1))))
	assert.ErrorContains(t, err, "is no regular file")
	require.NoError(t, os.Remove(path))
	_, err = f.Write([]byte(encode(numberedRecord(2))))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	assert.Equal(t, numbers(2, 3), requests(readAll(t, path)))
}

// A rotation that does not work is loud and costs no record.
func TestRotationFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Join(path+".000001", "full"), 0o700)) // cannot be removed
	l, out := openTest(t, path, Options{MaxBytes: 2000, Keep: 1})
	for n := range 30 {
		l.Append(numberedRecord(n))
	}
	closeLog(t, l)
	assert.Contains(t, out.String(), "cannot be rotated")
	assert.Equal(t, Stats{Written: 30}, l.Stats())
	assert.NotEmpty(t, ls(t, filepath.Join(dir, "audit.jsonl.000001")))
}

func TestRotationBehindALink(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real.jsonl")
	link := filepath.Join(dir, "link.jsonl")
	require.NoError(t, os.WriteFile(real, nil, 0o600))
	need.Of(t, "symbolic links", os.Symlink(real, link))
	l, _ := openTest(t, link, Options{MaxBytes: 1, Keep: -1})
	for n := range 4 {
		l.Append(numberedRecord(n))
	}
	closeLog(t, l)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&fs.ModeSymlink)
	assert.Equal(t, numbers(0, 4), requests(readAll(t, link)))
	assert.True(t, strings.HasPrefix(ls(t, dir)[1], "real.jsonl"))
}

func TestRotatedOrder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	for _, n := range []int{999_999, 2, 1_000_000, 10} {
		require.NoError(t, os.WriteFile(numbered(path, n), nil, 0o600))
	}
	got, err := rotated(path)
	require.NoError(t, err)
	assert.Equal(t, []int{2, 10, 999_999, 1_000_000}, got, "by number, also with a digit more")
}
