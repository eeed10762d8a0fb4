package upstream

import (
	"bufio"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCopyLines(t *testing.T) {
	for in, want := range map[string]string{
		"one\ntwo\n":                        "mine: one\nmine: two\n",
		"no end":                            "mine: no end\n",
		"\n\n":                              "",
		strings.Repeat("x", 9000) + "\ny\n": "mine: " + strings.Repeat("x", maxStderrLine) + "\nmine: y\n",
	} {
		for _, small := range []bool{false, true} {
			var out strings.Builder
			reader := strings.NewReader(in)
			if small {
				copyLines(&out, "mine", iotest.OneByteReader(reader))
			} else {
				copyLines(&out, "mine", reader)
			}
			assert.Equal(t, want, out.String())
		}
	}
	var out strings.Builder
	copyLines(&out, "mine", strings.NewReader("\x1b[31mred\u202e\n"))
	assert.NotContains(t, out.String(), "\x1b")
	assert.NotContains(t, out.String(), "\u202e")
}

func TestNextEvent(t *testing.T) {
	in := ": a comment\n\nid: 7\nevent: message\ndata: {\"a\":\ndata: 1}\n\ndata:x\r\n\r\nretry: 1\n\ndata: cut"
	r := bufio.NewReaderSize(strings.NewReader(in), 16)
	for _, want := range []string{"{\"a\":\n1}", "x"} {
		data, err := nextEvent(r, 100)
		require.NoError(t, err)
		assert.Equal(t, want, string(data))
	}
	_, err := nextEvent(r, 100)
	require.Error(t, err, "an event that was cut off is none")
	_, err = nextEvent(bufio.NewReader(strings.NewReader("data: "+strings.Repeat("x", 200)+"\n\n")), 100)
	require.ErrorIs(t, err, errTooLong)
	_, err = nextEvent(bufio.NewReader(strings.NewReader(strings.Repeat("data: 0123456789\n", 50))), 100)
	require.ErrorIs(t, err, errTooLong)
}
