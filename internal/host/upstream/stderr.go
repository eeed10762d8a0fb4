package upstream

import (
	"bufio"
	"errors"
	"io"

	"github.com/kandev/assent/internal/display"
)

// maxStderrLine bounds a line of a program's stderr in bytes; the rest is left out.
const maxStderrLine = 4 << 10

// copyLines writes each line after the name of the one who wrote it, escaped for a
// terminal. It ends with its source; what cannot be written is dropped.
func copyLines(to io.Writer, name string, from io.Reader) {
	lines := bufio.NewReaderSize(from, maxStderrLine)
	for {
		line, more, err := lines.ReadLine()
		if len(line) > 0 {
			_, _ = io.WriteString(to, name+": "+display.Text(string(line), maxStderrLine)+"\n")
		}
		for more && err == nil {
			_, more, err = lines.ReadLine()
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}
