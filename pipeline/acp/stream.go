package acp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// DefaultMaxLine is the longest line in bytes that a [Reader] returns.
const DefaultMaxLine = 64 << 20

// LineTooLongError reports one line beyond the cap. The line is skipped; the
// next read goes on behind it.
type LineTooLongError struct{ Limit int }

// Error says what the limit is.
func (e *LineTooLongError) Error() string {
	return fmt.Sprintf("acp: line is longer than %d bytes; it is skipped", e.Limit)
}

// ErrCutLine reports that the stream ended in the middle of a line.
var ErrCutLine = errors.New("acp: the stream ended in the middle of a line")

const (
	// readSize is how much is read at once at least, in bytes.
	readSize = 64 << 10
	// keepBuffer is how much memory is kept for longer lines that may come, in bytes.
	// More is kept only while long lines come one after the other.
	keepBuffer = 1 << 20
)

// Reader reads lines of any length up to a cap. Memory stays bounded by the cap; while
// a line grows into more memory it is there twice. It is for one goroutine at a time.
type Reader struct {
	r        io.Reader
	limit    int
	buf      []byte // what was read and not returned is buf[from:to]
	from, to int
	looked   int // of it, how much has no line feed
	long     int // how many of the last lines, without a break, were longer than keepBuffer
	skipping bool
	err      error // of the stream
}

// NewReader reads from r; limit is the cap in bytes, 0 means [DefaultMaxLine].
func NewReader(r io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultMaxLine
	}
	return &Reader{r: r, limit: limit, buf: make([]byte, readSize)}
}

// ReadLine returns the next line without its end (LF or CR LF). The bytes are
// valid until the next call. A line beyond the cap is a [*LineTooLongError], and
// reading goes on. At the end it returns [io.EOF], or [ErrCutLine] with what was
// there of an unfinished line.
func (r *Reader) ReadLine() ([]byte, error) {
	line, err := r.ReadWhole()
	if err == nil {
		line = trimEnd(line)
	}
	return line, err
}

// ReadWhole is ReadLine for a relay: it returns the line with its end.
func (r *Reader) ReadWhole() ([]byte, error) {
	if r.long < 2 {
		r.giveBack()
	}
	for {
		line, whole := r.next()
		switch {
		case whole && r.skipping: // the rest of one that is too long
			r.skipping = false
		case whole && len(trimEnd(line)) > r.limit, !whole && r.tooLong():
			return nil, r.skip(whole)
		case whole:
			if r.long++; len(line) <= keepBuffer {
				r.long = 0
			}
			return line, nil
		case r.err != nil:
			return r.rest()
		default:
			r.fill()
		}
	}
}

// skip drops a line that is too long, with all that is still to come of it.
func (r *Reader) skip(whole bool) error {
	if r.skipping = !whole; r.skipping {
		r.from, r.looked = r.to, 0
	}
	r.long = 0
	r.giveBack()
	return &LineTooLongError{Limit: r.limit}
}

// next takes the next line out of what was read.
func (r *Reader) next() ([]byte, bool) {
	n := bytes.IndexByte(r.buf[r.from+r.looked:r.to], '\n')
	if n < 0 {
		r.looked = r.to - r.from
		return nil, false
	}
	end := r.from + r.looked + n + 1
	line := r.buf[r.from:end:end]
	r.from, r.looked = end, 0
	return line, true
}

// tooLong says whether an unfinished line is beyond the cap. While the line goes on,
// its last CR may turn out to belong to the line end. Of one that is skipped nothing
// is kept.
func (r *Reader) tooLong() bool {
	if r.skipping {
		r.from, r.looked = r.to, 0
		return false
	}
	line := r.buf[r.from:r.to]
	if r.err == nil {
		line = bytes.TrimSuffix(line, []byte{'\r'})
	}
	return len(line) > r.limit
}

// rest is what is left at the end of the stream.
func (r *Reader) rest() ([]byte, error) {
	line := r.buf[r.from:r.to]
	r.from, r.looked = r.to, 0
	if len(line) > 0 && errors.Is(r.err, io.EOF) {
		return line, ErrCutLine
	}
	return nil, r.err // a line behind another error would begin in the middle
}

// fill reads more, into memory that has room for it.
func (r *Reader) fill() {
	r.makeRoom()
	for range maxEmptyReads {
		n, err := r.r.Read(r.buf[r.to:])
		r.to += n
		if r.err = err; n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// maxEmptyReads is how often a stream may give nothing and no error.
const maxEmptyReads = 100

// makeRoom moves what is unfinished to the beginning, and takes more memory for a
// long line.
func (r *Reader) makeRoom() {
	there := r.to - r.from
	if there+readSize > len(r.buf) {
		r.move(max(min(2*len(r.buf), r.limit+2*readSize), there+readSize))
	} else if r.from > 0 {
		r.to = copy(r.buf, r.buf[r.from:r.to])
		r.from = 0
	}
}

// giveBack gives the memory of a long line back, once little is left in it.
func (r *Reader) giveBack() {
	if len(r.buf) > keepBuffer && r.to-r.from <= readSize {
		r.move(2 * readSize)
	}
}

// move goes on in new memory of the given size.
func (r *Reader) move(size int) {
	to := make([]byte, size)
	r.to = copy(to, r.buf[r.from:r.to])
	r.buf, r.from = to, 0
}

// Ready says whether a whole line was read already, so that the next read of one
// waits for nobody.
func (r *Reader) Ready() bool { return r.Ahead() != nil }

// Ahead is the whole line, with its end, that the next read returns; nil if it was not
// read yet.
func (r *Reader) Ahead() []byte {
	n := bytes.IndexByte(r.buf[r.from+r.looked:r.to], '\n')
	if n < 0 || r.skipping {
		return nil
	}
	return r.buf[r.from : r.from+r.looked+n+1]
}

// Empty says whether all that was read of the stream was returned.
func (r *Reader) Empty() bool { return r.from == r.to && !r.skipping && r.err == nil }

// Fill reads from the stream once, for whoever knows that there is something to be
// read: what came is in [Reader.Ahead].
func (r *Reader) Fill() {
	if r.err == nil {
		r.fill()
	}
}

func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// Writer writes whole lines; lines of concurrent callers are never mixed.
type Writer struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
	err error
}

// NewWriter writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// WriteLine writes one line and its LF in one call of the underlying writer.
// After a failed or short write the stream may end in the middle of a line, so
// every later call returns the same error.
func (w *Writer) WriteLine(line []byte) error {
	if bytes.IndexByte(line, '\n') >= 0 {
		return errors.New("acp: a message must not contain a line feed")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	w.buf = append(append(w.buf[:0], line...), '\n')
	n, err := w.w.Write(w.buf)
	if err == nil && n < len(w.buf) {
		err = io.ErrShortWrite
	}
	if cap(w.buf) > keepBuffer {
		w.buf = nil
	}
	w.err = err
	return err
}
