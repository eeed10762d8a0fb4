package acp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// DefaultMaxLine is the longest line in bytes that a [Reader] returns.
const DefaultMaxLine = 64 << 20

// keepBuffer is how much memory a Reader keeps between two long lines, in bytes.
const keepBuffer = 1 << 20

// LineTooLongError reports one line beyond the cap. The line is skipped; the
// next read goes on behind it.
type LineTooLongError struct{ Limit int }

// Error says what the limit is.
func (e *LineTooLongError) Error() string {
	return fmt.Sprintf("acp: line is longer than %d bytes; it is skipped", e.Limit)
}

// ErrCutLine reports that the stream ended in the middle of a line.
var ErrCutLine = errors.New("acp: the stream ended in the middle of a line")

// Reader reads lines of any length up to a cap. Memory stays bounded by the cap.
// It is for one goroutine.
type Reader struct {
	r        *bufio.Reader
	limit    int
	long     []byte
	skipping bool
	err      error // of the stream: a line behind it would begin in the middle
}

// NewReader reads from r; limit is the cap in bytes, 0 means [DefaultMaxLine].
func NewReader(r io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultMaxLine
	}
	return &Reader{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
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
	if r.err == nil {
		r.skip()
	}
	if r.err != nil {
		return nil, r.err
	}
	if cap(r.long) > keepBuffer {
		r.long = nil
	}
	r.long = r.long[:0]
	for {
		part, err := r.r.ReadSlice('\n')
		if r.tooLong(part, err) {
			r.long = nil
			r.skipping = err != nil
			return nil, &LineTooLongError{Limit: r.limit}
		}
		switch {
		case err == nil && len(r.long) == 0:
			return part, nil
		case err == nil:
			r.long = append(r.long, part...)
			return r.long, nil
		case errors.Is(err, bufio.ErrBufferFull):
			r.long = append(r.long, part...)
		case errors.Is(err, io.EOF):
			if r.long = append(r.long, part...); len(r.long) == 0 {
				return nil, io.EOF
			}
			return r.long, ErrCutLine
		default:
			r.err = err
			return nil, err
		}
	}
}

// Ready says whether a whole line was read already, so that the next read of one
// waits for nobody.
func (r *Reader) Ready() bool {
	if r.r.Buffered() == 0 {
		return false
	}
	there, _ := r.r.Peek(r.r.Buffered()) // no more than what is there
	return bytes.IndexByte(there, '\n') >= 0
}

// tooLong says whether a line goes beyond the cap with one more part. While the
// line goes on, its last CR may turn out to belong to the line end.
func (r *Reader) tooLong(part []byte, err error) bool {
	length := len(r.long) + len(part)
	switch {
	case err == nil && len(part) == 1 && bytes.HasSuffix(r.long, []byte{'\r'}):
		length -= 2
	case err == nil:
		length -= len(part) - len(trimEnd(part))
	case errors.Is(err, bufio.ErrBufferFull) && bytes.HasSuffix(part, []byte{'\r'}):
		length--
	}
	return length > r.limit
}

// skip drops the rest of a line that was too long.
func (r *Reader) skip() {
	for r.skipping {
		_, err := r.r.ReadSlice('\n')
		switch {
		case err == nil:
			r.skipping = false
		case !errors.Is(err, bufio.ErrBufferFull):
			r.skipping, r.err = false, err
		}
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
