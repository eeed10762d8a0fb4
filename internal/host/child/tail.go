package child

import (
	"bytes"
	"sync"

	"github.com/kandev/assent/internal/display"
)

// maxTail is how much of an agent's stderr is kept, in bytes.
const maxTail = 8 << 10

// tail keeps the end of what is written to it. Writing never blocks and never
// fails, so the agent is never stopped by its own stderr.
type tail struct {
	mu  sync.Mutex
	buf []byte
	cut bool
}

// Write keeps the end of p.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p[max(0, len(p)-2*maxTail):]...)
	if over := len(t.buf) - 2*maxTail; over > 0 {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-maxTail:]...)
		t.cut = true
	}
	return len(p), nil
}

// Text is the kept end for a person's eyes: escaped, whole lines where it was cut.
func (t *tail) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.buf
	if len(kept) > maxTail || t.cut {
		kept = kept[max(0, len(kept)-maxTail):]
		if _, rest, found := bytes.Cut(kept, []byte("\n")); found && len(rest) > 0 {
			kept = rest
		}
	}
	return display.Text(string(bytes.TrimRight(kept, "\r\n")), 4*maxTail)
}
