package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mode of every audit file, whatever the umask.
const mode = 0o600

// file is an append-only file that is rotated by size. Rotated files have a
// number behind their name; it grows, so the oldest file has the lowest one. It
// is for one goroutine; other processes may write to the same file.
type file struct {
	path string
	max  int64
	keep int
	log  *slog.Logger

	f       *os.File
	info    fs.FileInfo // of f, as it was opened
	size    int64
	midline bool  // the last line has no end: the next one needs a new line
	retry   int64 // size at which a rotation that failed is tried again
	buf     []byte
}

// openFile opens the file, or makes it and its folder.
func openFile(path string, o Options) (*file, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	path = target(path) // or else the link would be rotated and not the file
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	w := &file{path: path, max: o.MaxBytes, keep: o.Keep, log: o.Logger}
	return w, w.open()
}

// open opens what is at the path now.
func (w *file) open() error {
	if info, err := os.Stat(w.path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("audit: %q is no regular file", w.path)
	}
	f, err := os.OpenFile(w.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, mode)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	info, err := private(f)
	if err != nil {
		return errors.Join(fmt.Errorf("audit: %w", err), f.Close())
	}
	w.f, w.info, w.size, w.retry = f, info, info.Size(), 0
	w.midline = !endsLine(f, w.size)
	syncFolder(filepath.Dir(w.path))
	return nil
}

// private takes the file away from everybody else. Only the owner can do that; a
// file that is open to others and not ours is refused.
func private(f *os.File) (fs.FileInfo, error) {
	err := f.Chmod(mode)
	info, statErr := f.Stat()
	switch {
	case statErr != nil:
		return nil, statErr
	case err != nil && info.Mode().Perm()&^mode != 0:
		return nil, err
	}
	return info, nil
}

// endsLine says whether a file is empty or ends with a line feed.
func endsLine(f io.ReaderAt, size int64) bool {
	var last [1]byte
	if size == 0 {
		return true
	}
	_, err := f.ReadAt(last[:], size-1)
	return err == nil && last[0] == '\n'
}

// Write appends a line with one write call. After an error a part of it may be in
// the file; the next line then begins a new one.
func (w *file) Write(line []byte) (int, error) {
	if err := w.follow(); err != nil {
		return 0, err
	}
	if w.size > 0 && w.size+int64(len(line)) > w.max && w.size >= w.retry {
		if err := w.rotate(); err != nil {
			return 0, err
		}
	}
	out := line
	if w.midline {
		w.buf = append(append(w.buf[:0], '\n'), line...)
		out = w.buf
	}
	n, err := w.f.Write(out)
	w.size += int64(n)
	if n > 0 {
		w.midline = out[n-1] != '\n'
	}
	return max(0, n-(len(out)-len(line))), err
}

// follow makes sure that the open file is the one at the path: another process
// may have rotated it, or somebody moved or deleted it.
func (w *file) follow() error {
	if w.f != nil {
		info, err := os.Stat(w.path)
		switch {
		case err == nil && os.SameFile(info, w.info):
			w.size = info.Size() // others write too
			return nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("audit: %w", err)
		}
		w.leave()
	}
	return w.open()
}

// leave syncs and closes the file that is open, to open another one.
func (w *file) leave() {
	if err := errors.Join(w.f.Sync(), w.f.Close()); err != nil {
		w.log.Error("an audit file was not synced to the disk when it was left", "error", err)
	}
	w.f = nil
}

// rotate gives the file its number and begins a new one. When that does not work
// it says so and the old file goes on; an error means that none is open.
func (w *file) rotate() error {
	unlock, err := lock(w.path)
	if errors.Is(err, errLocked) { // another process does it
		return nil
	}
	if err != nil {
		w.notRotated(err)
		return nil
	}
	defer unlock()
	if info, err := os.Stat(w.path); err != nil || !os.SameFile(info, w.info) {
		return w.follow() // it has done it
	}
	return w.next()
}

// errLocked says that another process holds the lock.
var errLocked = errors.New("audit: another process rotates the file")

// next makes the file the newest of the rotated ones and opens a new one.
func (w *file) next() error {
	numbers, err := rotated(w.path)
	next := 1
	if n := len(numbers); n > 0 {
		next = numbers[n-1] + 1
	}
	w.leave() // some systems rename no open file
	if err == nil {
		err = os.Rename(w.path, numbered(w.path, next))
	}
	if openErr := w.open(); openErr != nil {
		return openErr
	}
	if err == nil {
		err = w.prune(append(numbers, next))
	}
	if err != nil {
		w.notRotated(err)
	}
	return nil
}

func (w *file) notRotated(err error) {
	w.retry = w.size + w.max/8 + 1
	w.log.Error("the audit file cannot be rotated; it is tried again when it has grown", "error", err)
}

// prune removes the oldest rotated files.
func (w *file) prune(numbers []int) error {
	if w.keep < 0 {
		return nil
	}
	var errs []error
	for _, n := range numbers[:max(0, len(numbers)-w.keep)] {
		if err := os.Remove(numbered(w.path, n)); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Sync syncs the file to the disk.
func (w *file) Sync() error {
	if w.f == nil {
		return nil
	}
	return w.f.Sync()
}

// Close closes the file.
func (w *file) Close() error {
	if w.f == nil {
		return nil
	}
	f := w.f
	w.f = nil
	return f.Close()
}

// numbered is the name of a rotated file. Names sort like the numbers.
func numbered(path string, n int) string { return fmt.Sprintf("%s.%06d", path, n) }

// rotated lists the numbers of the rotated files, ascending.
func rotated(path string) ([]int, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	var numbers []int
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+".")
		n, err := strconv.Atoi(text)
		if ok && err == nil && n > 0 && numbered(path, n) == filepath.Join(filepath.Dir(path), e.Name()) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, err
}

// syncFolder makes the name of a new file last through a power failure, where the
// system can do that.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
