package audit

import (
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/kandev/assent/pipeline"
)

// timeForm is RFC 3339 in UTC, always with nanoseconds: lines sort by it.
const timeForm = "2006-01-02T15:04:05.000000000Z"

// maxLine bounds a line in bytes, its line feed included.
const maxLine = 8 << 10

// appendRecord writes a clean record as one line, in printable ASCII.
func appendRecord(b []byte, r *Record) []byte {
	l := line{append(b, `{"time":"`...)}
	l.b = append(r.Time.AppendFormat(l.b, timeForm), '"')
	l.text("event", string(r.Event))
	l.text("run", r.Run)
	l.text("instance", r.Instance)
	l.text("agent", string(r.Agent))
	l.text("task", r.Task)
	l.text("session", r.Session)
	l.text("request_id", r.Request)
	if r.Event == Decision || r.Event == Answer {
		l.text("verdict", r.Verdict.String())
	}
	l.text("stage", string(r.Stage))
	l.text("reason", string(r.Reason))
	l.text("option_kind", r.OptionKind)
	if r.Tool.State() == pipeline.Named {
		l.text("server", r.Tool.Server())
		l.text("tool", r.Tool.Tool())
	}
	l.text("kind", string(r.Kind))
	l.text("by", r.By)
	l.text("surface", r.Surface)
	if r.Event == Answer {
		l.number("waited_ms", uint64(r.Waited/time.Millisecond))
	}
	l.text("net", string(r.Net))
	if r.Dropped > 0 {
		l.number("dropped", r.Dropped)
	}
	if !r.Since.IsZero() {
		l.text("since", r.Since.Format(timeForm))
	}
	return append(l.b, '}', '\n')
}

// line is a line that is being written.
type line struct{ b []byte }

func (l *line) member(name string) {
	l.b = append(l.b, ',', '"')
	l.b = append(l.b, name...)
	l.b = append(l.b, '"', ':')
}

func (l *line) number(name string, n uint64) {
	l.member(name)
	l.b = strconv.AppendUint(l.b, n, 10)
}

// text writes a member unless it is empty.
func (l *line) text(name, s string) {
	if s == "" {
		return
	}
	l.member(name)
	l.b = append(l.b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			l.b = append(l.b, '\\', byte(r))
		case r >= ' ' && r <= '~':
			l.b = append(l.b, byte(r))
		default:
			l.b = appendEscape(l.b, r)
		}
	}
	l.b = append(l.b, '"')
}

// appendEscape writes a character as \uXXXX, or as two of them.
func appendEscape(b []byte, r rune) []byte {
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return appendEscape(appendEscape(b, high), low)
	}
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[r>>12], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// ASCII is a line of JSON with every character outside of printable ASCII
// escaped, so that it can be shown on any terminal. A line that [Log] wrote stays
// as it is. Bytes that are no UTF-8 are written as U+FFFD.
func ASCII(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r >= ' ' && r <= '~' || r == '\t' {
			out = append(out, byte(r))
		} else {
			out = appendEscape(out, r)
		}
		text = text[size:]
	}
	return out
}
