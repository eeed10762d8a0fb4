package acp_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline/acp"
)

// read is one outcome of ReadLine.
type read struct {
	line string
	err  error
}

// readAll reads to the end of the stream, which is not part of the result.
func readAll(r *acp.Reader) (reads []read) {
	for {
		line, err := r.ReadLine()
		if err == io.EOF {
			return reads
		}
		reads = append(reads, read{string(line), err})
		if err != nil && !errors.Is(err, acp.ErrCutLine) && !isTooLong(err) {
			return reads
		}
	}
}

func isTooLong(err error) bool {
	_, is := errors.AsType[*acp.LineTooLongError](err)
	return is
}

func TestReader(t *testing.T) {
	tooLong := &acp.LineTooLongError{Limit: 5}
	tests := map[string]struct {
		in   string
		want []read
	}{
		"nothing":                           {"", nil},
		"one line":                          {"abc\n", []read{{"abc", nil}}},
		"lines glued together":              {"a\nb\nc\n", []read{{"a", nil}, {"b", nil}, {"c", nil}}},
		"CR LF":                             {"a\r\nb\r\n", []read{{"a", nil}, {"b", nil}}},
		"a CR inside stays":                 {"a\rb\n", []read{{"a\rb", nil}}},
		"one CR of several belongs to LF":   {"a\r\r\n", []read{{"a\r", nil}}},
		"blank lines":                       {"\n\r\n \n", []read{{"", nil}, {"", nil}, {" ", nil}}},
		"noise is a line":                   {"\x1b[2K\n\xff\x00\n", []read{{"\x1b[2K", nil}, {"\xff\x00", nil}}},
		"the last line is cut":              {"a\nbc", []read{{"a", nil}, {"bc", acp.ErrCutLine}}},
		"a cut line keeps its CR":           {"bc\r", []read{{"bc\r", acp.ErrCutLine}}},
		"exactly the cap":                   {"12345\n", []read{{"12345", nil}}},
		"exactly the cap, CR LF":            {"12345\r\n", []read{{"12345", nil}}},
		"exactly the cap, cut":              {"12345", []read{{"12345", acp.ErrCutLine}}},
		"one more than the cap":             {"123456\nnext\n", []read{{"", tooLong}, {"next", nil}}},
		"one more, CR LF":                   {"123456\r\nnext\n", []read{{"", tooLong}, {"next", nil}}},
		"one more, a CR":                    {"12345\r\r\nnext\n", []read{{"", tooLong}, {"next", nil}}},
		"one more, cut":                     {"123456", []read{{"", tooLong}}},
		"one more, a CR, cut":               {"12345\r", []read{{"", tooLong}}},
		"two in a row":                      {"123456\n1234567\n\n", []read{{"", tooLong}, {"", tooLong}, {"", nil}}},
		"only CRs":                          {"\r\r\r\r\r\r\r\r\na\n", []read{{"", tooLong}, {"a", nil}}},
		"the end right behind one too long": {"ok\n1234567\n", []read{{"ok", nil}, {"", tooLong}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for how, wrap := range chunkings {
				assert.Equal(t, test.want, readAll(acp.NewReader(wrap(strings.NewReader(test.in)), 5)), how)
			}
		})
	}
	assert.EqualError(t, tooLong, "acp: line is longer than 5 bytes; it is skipped")
}

// chunkings are ways in which the same bytes can arrive.
var chunkings = map[string]func(io.Reader) io.Reader{
	"at once":           func(r io.Reader) io.Reader { return r },
	"byte by byte":      iotest.OneByteReader,
	"by halves":         iotest.HalfReader,
	"with the end":      iotest.DataErrReader,
	"end, byte by byte": func(r io.Reader) io.Reader { return iotest.DataErrReader(iotest.OneByteReader(r)) },
}

// The cap holds to the byte wherever a line end meets the end of a buffer.
func TestReaderCapAtBufferEnds(t *testing.T) {
	const buffer = 64 << 10
	for _, limit := range []int{buffer - 2, buffer - 1, buffer, buffer + 1, 2*buffer - 1, 2 * buffer} {
		for over := -1; over <= 2; over++ {
			for _, end := range []string{"\n", "\r\n"} {
				line := strings.Repeat("x", limit+over)
				want := []read{{line, nil}, {"next", nil}}
				if over > 0 {
					want[0] = read{"", &acp.LineTooLongError{Limit: limit}}
				}
				got := readAll(acp.NewReader(strings.NewReader(line+end+"next\n"), limit))
				require.True(t, assert.ObjectsAreEqual(want, got), "limit %d, line %d, end %q", limit, len(line), end)
			}
		}
	}
}

// Behind a failed read the stream is not gone on with: the next bytes would begin
// in the middle of a line and could look like a message.
func TestReaderAfterAnError(t *testing.T) {
	failure := errors.New("broken")
	in := io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(failure), strings.NewReader("c\nd\n"))
	r := acp.NewReader(in, 0)
	assert.Equal(t, []read{{"a", nil}, {"", failure}}, readAll(r))
	for range 3 {
		_, err := r.ReadLine()
		assert.Equal(t, failure, err)
	}
	long := acp.NewReader(io.MultiReader(strings.NewReader(strings.Repeat("x", 70<<10)), iotest.ErrReader(failure), strings.NewReader("c\n")), 5)
	assert.Equal(t, []read{{"", &acp.LineTooLongError{Limit: 5}}, {"", failure}}, readAll(long))
	// Its twin: the end of the stream is an end, not an error.
	assert.Equal(t, []read{{"a", nil}}, readAll(acp.NewReader(strings.NewReader("a\n"), 0)))
}

// endless gives n bytes "x" without a line end, and then the rest.
type endless struct {
	n    int64
	rest io.Reader
}

func (e *endless) Read(p []byte) (int, error) {
	if e.n == 0 {
		return e.rest.Read(p)
	}
	n := copy(p[:min(int64(len(p)), e.n)], manyX)
	e.n -= int64(n)
	return n, nil
}

var manyX = bytes.Repeat([]byte("x"), 64<<10)

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// L32: 1 GiB without a line end is one named error; memory stays bounded by the
// cap, and the next line is read.
func TestL32_LineWithoutEnd(t *testing.T) {
	const limit = 1 << 20
	before := heap()
	r := acp.NewReader(&endless{1 << 30, strings.NewReader("\n" + offerOf(`{"toolCallId":"c"}`) + "\n")}, limit)
	_, err := r.ReadLine()
	assert.Equal(t, &acp.LineTooLongError{Limit: limit}, err)
	assert.Less(t, heap(), before+2*limit)
	line, err := r.ReadLine()
	require.NoError(t, err)
	assert.NotNil(t, fromAgent(t, acp.NewDecoder(acp.Options{}), string(line)))
	// Its twin below the cap.
	r = acp.NewReader(&endless{limit, strings.NewReader("\n")}, limit)
	line, err = r.ReadLine()
	require.NoError(t, err)
	assert.Len(t, line, limit)
}

// The default cap, and that the memory of a long line is given back.
func TestReaderGivesMemoryBack(t *testing.T) {
	before := heap()
	r := acp.NewReader(&endless{acp.DefaultMaxLine, strings.NewReader("\nshort\n" + strings.Repeat("y", 100) + "\n")}, 0)
	line, err := r.ReadLine()
	require.NoError(t, err)
	assert.Len(t, line, acp.DefaultMaxLine)
	assert.Greater(t, heap(), before+acp.DefaultMaxLine/2)
	line, err = r.ReadLine()
	require.NoError(t, err)
	assert.Equal(t, "short", string(line))
	assert.Less(t, heap(), before+4<<20)

	const limit = 8 << 20
	r = acp.NewReader(&endless{limit + 1, strings.NewReader("\nshort\n")}, limit)
	_, err = r.ReadLine()
	assert.Equal(t, &acp.LineTooLongError{Limit: limit}, err)
	assert.Less(t, heap(), before+4<<20)
	line, err = r.ReadLine()
	require.NoError(t, err)
	assert.Equal(t, "short", string(line))
}

// L30: byte by byte, glued together, and cut at the end of the stream.
func TestL30_FramesDoNotEndWhereReadsDo(t *testing.T) {
	frames := []string{offerIn("a", ""), updateIn("a", `{}`), offerIn("b", "")}
	text := strings.Join(frames, "\n") + "\n" + frames[0][:40]
	for how, wrap := range chunkings {
		reads := readAll(acp.NewReader(wrap(bytes.NewReader([]byte(text))), 0))
		assert.Equal(t, []read{{frames[0], nil}, {frames[1], nil}, {frames[2], nil}, {frames[0][:40], acp.ErrCutLine}}, reads, how)
	}
}
