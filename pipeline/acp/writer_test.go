package acp_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline/acp"
)

// calls records each call of Write. It may write less, or fail, from call number
// failing on (0: never).
type calls struct {
	written []string
	failing int
	short   int
	err     error
}

func (c *calls) Write(p []byte) (int, error) {
	c.written = append(c.written, string(p))
	if c.failing > 0 && len(c.written) >= c.failing {
		return c.short, c.err
	}
	return len(p), nil
}

func TestWriter(t *testing.T) {
	failure := errors.New("broken")
	lineFeed := errors.New("acp: a message must not contain a line feed")
	tests := map[string]struct {
		to    calls
		lines []string
		wrote []string
		errs  []error
	}{
		"each line in one call":             {calls{}, []string{"a", "", "c\r"}, []string{"a\n", "\n", "c\r\n"}, []error{nil, nil, nil}},
		"a line feed inside":                {calls{}, []string{"a\nb", "c\n", "d"}, []string{"d\n"}, []error{lineFeed, lineFeed, nil}},
		"an error stays":                    {calls{failing: 2, err: failure}, []string{"a", "b", "c", "d"}, []string{"a\n", "b\n"}, []error{nil, failure, failure, failure}},
		"a short write is an error":         {calls{failing: 2, short: 1}, []string{"a", "bcd", "e"}, []string{"a\n", "bcd\n"}, []error{nil, io.ErrShortWrite, io.ErrShortWrite}},
		"a short write with its own reason": {calls{failing: 1, short: 1, err: failure}, []string{"bcd", "e"}, []string{"bcd\n"}, []error{failure, failure}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := acp.NewWriter(&test.to)
			var errs []error
			for _, line := range test.lines {
				errs = append(errs, w.WriteLine([]byte(line)))
			}
			assert.Equal(t, test.errs, errs)
			assert.Equal(t, test.wrote, test.to.written)
		})
	}
}

// Lines of concurrent writers are never mixed, and none is lost.
func TestWriterConcurrently(t *testing.T) {
	const writers, lines = 16, 200
	var out bytes.Buffer // not safe by itself
	w := acp.NewWriter(&out)
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			for j := range lines {
				assert.NoError(t, w.WriteLine([]byte(fmt.Sprintf("%d/%d/%s", i, j, strings.Repeat("x", i*37)))))
			}
		})
	}
	group.Wait()
	next := make([]int, writers)
	for line := range strings.Lines(out.String()) {
		var i, j int
		var rest string
		_, err := fmt.Sscanf(strings.ReplaceAll(line, "/", " "), "%d %d %s", &i, &j, &rest)
		require.True(t, err == nil || i == 0, line) // writer 0 writes no rest
		require.Equal(t, next[i], j)
		require.Equal(t, fmt.Sprintf("%d/%d/%s\n", i, j, strings.Repeat("x", i*37)), line)
		next[i]++
	}
	for i := range next {
		assert.Equal(t, lines, next[i])
	}
}

// A long line goes out whole, and its memory is given back.
func TestWriterGivesMemoryBack(t *testing.T) {
	const size = 32 << 20
	line := bytes.Repeat([]byte("x"), size)
	var n counter
	w := acp.NewWriter(&n)
	before := heap()
	require.NoError(t, w.WriteLine(line))
	assert.Less(t, heap(), before+4<<20)
	require.NoError(t, w.WriteLine([]byte("y")))
	assert.Equal(t, counter(size+3), n)
}

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
