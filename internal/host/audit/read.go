package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Line is one line of an audit file.
type Line struct {
	File   string
	Number int // from 1
	// Text is the line without its line feed. It is valid during the call.
	Text []byte
	// Record that the line holds, when Err is nil.
	Record Record
	// Err says why it holds none: [ErrCut], or what is wrong. It holds nothing of
	// the line.
	Err error
}

// ErrCut says that a line ends in the middle, as its writer did, or as the disk
// was full. That is no damage: whoever wrote on has noted it.
var ErrCut = errors.New("the line is cut")

// errLong says that a line is longer than any record.
var errLong = errors.New("no record: the line is too long")

// maxRead bounds a line that is read, in bytes.
const maxRead = 64 << 10

// Read reads an audit file, after the files that were rotated out of it, oldest
// first, and calls visit for every line that is not blank. It ends with the error
// of visit or of the file system. A log that is being written can be read: it is
// seen as it stood when Read came to its newest file.
func Read(path string, visit func(Line) error) error {
	path = target(path)
	newest, err := os.Open(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if newest != nil {
		defer newest.Close()
	}
	numbers, listErr := rotated(path)
	if newest == nil && len(numbers) == 0 {
		return err
	}
	if listErr != nil && !errors.Is(listErr, fs.ErrNotExist) {
		return listErr
	}
	for _, n := range numbers {
		last, err := readRotated(numbered(path, n), newest, visit)
		if last || err != nil {
			return err
		}
	}
	if newest == nil {
		return nil
	}
	return readLines(path, newest, visit)
}

// target is the file behind a link: the rotated files are beside it.
func target(path string) string {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil { // a pipe that has no name
		return path
	}
	return real
}

// readRotated reads one rotated file. It was the newest one when that was opened
// if it has been rotated since: then it is the last one to be read.
func readRotated(name string, newest *os.File, visit func(Line) error) (last bool, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) { // it was the oldest, and there are enough of them
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if newest != nil {
		a, errA := f.Stat()
		b, errB := newest.Stat()
		if err := errors.Join(errA, errB); err != nil {
			return false, err
		}
		last = os.SameFile(a, b)
	}
	return last, readLines(name, f, visit)
}

// readLines reads one file.
func readLines(name string, in io.Reader, visit func(Line) error) error {
	s := lineReader{in: bufio.NewReaderSize(in, maxRead), name: name, visit: visit}
	for {
		text, err := s.in.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = s.in.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := s.line(text, long, err == nil); err != nil {
			return err
		}
		if err != nil {
			return s.release(false)
		}
	}
}

// lineReader visits the lines of one file.
type lineReader struct {
	in     *bufio.Reader
	name   string
	number int
	visit  func(Line) error

	held *Line // a line without a record: the next line may say that it was cut
}

// line handles one line. Ended says that it has a line feed.
func (s *lineReader) line(text []byte, long, ended bool) error {
	s.number++
	text = bytes.TrimRight(text, "\r\n")
	l := Line{File: s.name, Number: s.number, Text: text}
	switch {
	case long: // of which nothing is left to be read
		l.Text, l.Err = nil, errLong
	case len(bytes.TrimSpace(text)) == 0:
		return nil
	default:
		if l.Record, l.Err = Parse(text); l.Err != nil {
			return s.broken(l, ended)
		}
	}
	if err := s.release(l.Err == nil && l.Record.Event == Gap); err != nil {
		return err
	}
	return s.visit(l)
}

// broken handles a line without a record. A record may have been written behind
// a part of one, when another process was killed at that place: within a record
// no quote stands behind a brace, so its beginning is found for certain.
func (s *lineReader) broken(l Line, ended bool) error {
	if err := s.release(false); err != nil {
		return err
	}
	if at := bytes.LastIndex(l.Text, []byte(`{"time":"`)); at > 0 {
		if r, err := Parse(l.Text[at:]); err == nil {
			cut := l
			cut.Text, cut.Err = l.Text[:at], ErrCut
			l.Text, l.Record, l.Err = l.Text[at:], r, nil
			if err := s.visit(cut); err != nil {
				return err
			}
			return s.visit(l)
		}
	}
	if !ended {
		l.Err = ErrCut
		return s.visit(l)
	}
	l.Text = bytes.Clone(l.Text)
	s.held = &l
	return nil
}

// release visits the line that is held. Cut says that the next one is a gap.
func (s *lineReader) release(cut bool) error {
	l := s.held
	if l == nil {
		return nil
	}
	s.held = nil
	if cut {
		l.Err = ErrCut
	}
	return s.visit(*l)
}
